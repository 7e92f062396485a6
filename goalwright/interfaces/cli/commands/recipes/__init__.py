"""Commands for recipes: `group` lists them."""
