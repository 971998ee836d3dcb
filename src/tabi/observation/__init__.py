"""Results of a step for users: contacts, feet, certificates, sensors, pictures."""
