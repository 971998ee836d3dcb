"""Response of bodies to impulses: their inverse inertia, coupled by the tree."""
