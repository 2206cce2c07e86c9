// Package kafka has two stages for Apache Kafka and what speaks its protocol: kafka-in reads topics as a member of a
// consumer group, and kafka-out writes to one. It is a module of its own, to be built into a webrace-run:
//
//	webrace-run build --source . --with ./examples/kafka
//
//	flow = ["kafka-in > map > kafka-out"]
package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/webrace/webrace/pipeline"
)

// Connection is what both stages are told of the cluster.
type Connection struct {
	Brokers []string `toml:"brokers" doc:"where the cluster is: host:port of some of its brokers"`
	TLS     bool     `toml:"tls" doc:"connect by TLS"`
}

// validate refuses a connection to nowhere.
func (c Connection) validate() error {
	if len(c.Brokers) == 0 {
		return &pipeline.OptionError{Option: "brokers", Err: errors.New(`name a broker, as in ["localhost:9092"]`)}
	}
	return nil
}

func (c Connection) client(more ...kgo.Opt) (*kgo.Client, error) {
	all := append([]kgo.Opt{kgo.SeedBrokers(c.Brokers...)}, more...)
	if c.TLS {
		all = append(all, kgo.DialTLS())
	}
	return kgo.NewClient(all...)
}
