"""Controllers that are processes of their own: messages, sockets, and both ends of them."""
