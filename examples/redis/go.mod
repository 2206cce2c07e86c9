module github.com/webrace/webrace/examples/redis

go 1.26.1

require (
	github.com/redis/go-redis/v9 v9.23.0
	github.com/webrace/webrace v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/webrace/webrace => ../..
