"""How bodies answer impulses: their inverse inertia, coupled by the tree."""
