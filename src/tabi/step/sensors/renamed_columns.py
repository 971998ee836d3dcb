"""Old names of the columns of sensor tables, which work for one release."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabi._renamed import warn_renamed
from tabi.step.sensors.tables import SAMPLE, VALUE

# columns of tables: old name → new name
RENAMED = {VALUE: {"told": "reading"}, SAMPLE: {"told": "released"}}


class RenamedColumns(np.ndarray[Any, Any]):
    """A table whose columns can be read by their old names, too."""

    def __getitem__(self, key: Any) -> Any:
        names = RENAMED.get(self.dtype, {})
        if isinstance(key, str) and key in names:
            warn_renamed("the table of sensors", key, names[key])
            key = names[key]
        return super().__getitem__(key)
