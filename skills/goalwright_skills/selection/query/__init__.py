"""The goal as a query: its terms, its language, its parts, the words that count, and the skills that it names."""
