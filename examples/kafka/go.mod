module github.com/webrace/webrace/examples/kafka

go 1.26.1

require (
	github.com/twmb/franz-go v1.22.2
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c
	github.com/webrace/webrace v0.0.0
)

require (
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/stretchr/testify v1.11.1 // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/webrace/webrace => ../..
