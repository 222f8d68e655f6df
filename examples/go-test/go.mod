module example/purchase

go 1.18
