"""What users read from a step that was made: contacts, feet, certificates, sensors, pictures."""
