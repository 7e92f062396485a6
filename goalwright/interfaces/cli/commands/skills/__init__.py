"""The commands of `goalwright skills`: list, select, check, create, import and measure skills."""
