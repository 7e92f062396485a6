module __DOMAIN__

go 1.18
