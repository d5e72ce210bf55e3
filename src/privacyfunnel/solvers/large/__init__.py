"""Large: alphabets of thousands of symbols and more, searched in blocks of clusters."""
