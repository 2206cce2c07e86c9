module github.com/webrace/webrace/bench

go 1.26.0

require (
	github.com/reugn/go-streams v0.13.0
	github.com/webrace/webrace v0.0.0-00010101000000-000000000000
	golang.org/x/net v0.62.0
)

require github.com/pelletier/go-toml/v2 v2.4.3 // indirect

replace github.com/webrace/webrace => ../
