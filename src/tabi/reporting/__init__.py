"""What is written for people: text on a terminal, tables, figures, films, pages."""
