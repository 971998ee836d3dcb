"""Keys of soft soles and pads become layers and options."""

from tabi.scenes.keys import soft as soft_keys
from tabi.scenes.keys.soft import LayerKeys, SoleKeys, TreadKeys


def test_numbers_of_one_layer_or_a_list_of_layers():
    one = soft_keys.layers(SoleKeys(thickness_m=0.03, young_modulus_pa=3e5, viscosity_s=0.004))
    assert [(x.thickness, x.young_modulus, x.viscosity) for x in one] == [(0.03, 3e5, 0.004)]
    two = SoleKeys(layers=(LayerKeys(thickness_m=0.01), LayerKeys(poisson_ratio=0.3)))
    made = soft_keys.layers(two)
    assert [x.thickness for x in made] == [0.01, 0.02]
    assert [x.poisson_ratio for x in made] == [0.45, 0.3]


def test_options_have_tread_and_sizes():
    told = SoleKeys(element_size_m=0.05, rounded_m=0.002, tread=TreadKeys(
        width_m=0.004, depth_m=0.003, pitch_m=0.02))  # fmt: skip
    found = soft_keys.options(told)
    assert (found["element_size"], found["rounded"]) == (0.05, 0.002)
    assert found["tread"].pitch == 0.02
    assert "tread" not in soft_keys.options(SoleKeys())
