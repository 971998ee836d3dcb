"""Fields that nodes of OpenHRP files may have, and which of them are read."""

# kinds of joints
KINDS = {
    "free": "floating",
    "fixed": "fixed",
    "rotate": "revolute",
    "slide": "prismatic",
    "crawler": "fixed",
    "pseudoContinuousTrack": "fixed",
}
SENSORS = {
    "ForceSensor": "force",
    "Gyro": "gyro",
    "AccelerationSensor": "accelerometer",
    "VisionSensor": "camera",
}
DEAF = ("PressureSensor", "PhotoInterrupter", "RangeSensor", "TorqueSensor")
# nodes that hold others and leave them where they are;
# the cylinder sensors let a mouse turn what they hold
GROUPS = (
    "Group",
    "Inline",
    "Anchor",
    "Billboard",
    "Collision",
    "CylinderSensorX",
    "CylinderSensorY",
    "CylinderSensorZ",
)

_BOX = "bboxCenter bboxSize addChildren removeChildren"
_PLACE = "children translation rotation center scale scaleOrientation"
_SENSOR = (
    "children translation rotation name sensorId||"
    "maxForce maxTorque maxAngularVelocity maxAcceleration type width height fieldOfView "
    "frontClipDistance backClipDistance frameRate"
)
_JOINT = (
    "children jointType jointAxis jointId translation rotation llimit ulimit lvlimit uvlimit "
    "climit gearRatio rotorInertia torqueConst jointValue equivalentInertia name||"
    "limitOrientation stiffness center scale scaleOrientation rotorResistor encoderPulse "
    "gearEfficiency"
)
_FACES = (
    "coord coordIndex|"
    "ccw convex solid creaseAngle color colorIndex colorPerVertex normal normalIndex "
    "normalPerVertex texCoord texCoordIndex|"
)
_MATERIAL = "diffuseColor transparency||ambientIntensity emissiveColor shininess specularColor"
# type → fields that are read | with nothing to say | known, not used, and noted
FIELDS = {
    kind: tuple(part.split() for part in row.split("|"))
    for kind, row in {
        "Humanoid": f"humanoidBody name {_PLACE}|"
        f"joints segments sites viewpoints info version {_BOX}|",
        "Joint": _JOINT,
        "Segment": f"children mass centerOfMass momentsOfInertia|name {_BOX}|coord displacers",
        "Transform": f"{_PLACE}|{_BOX}|",
        "Shape": "appearance geometry||",
        "Appearance": "material||texture textureTransform",
        "Material": _MATERIAL,
        "Box": "size||",
        "Sphere": "radius||",
        "Cylinder": "radius height|bottom side top|",
        "Cone": "bottomRadius height|bottom side|",
        "IndexedFaceSet": _FACES,
        "Coordinate": "point||",
        **dict.fromkeys(SENSORS, _SENSOR),
    }.items()
}
