"""What a motion is worth: measures of walks and impacts, margins of joints, error of the step."""
