// Package redis has two stages for the streams of Redis: redis-in reads one as a member of a consumer group, and
// redis-out adds to one. It is a module of its own, to be built into a webrace-run:
//
//	webrace-run build --source . --with ./examples/redis
//
//	flow = ["redis-in > map > redis-out"]
package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/webrace/webrace/pipeline"
)

// Connection is what both stages are told of the server.
type Connection struct {
	URL    string `toml:"url" doc:"the server: redis://user:password@host:port/database, or rediss:// for TLS; ${REDIS_URL} takes it from the environment"`
	Stream string `toml:"stream" doc:"the key of the stream"`
	Field  string `toml:"field" doc:"the field of an entry that holds its value"`
}

// validate refuses a connection to nowhere.
func (c Connection) validate() error {
	if _, err := redis.ParseURL(c.URL); err != nil {
		return &pipeline.OptionError{Option: "url", Err: errors.New("is no URL of a server: write one as redis://localhost:6379/0")} // it may hold a password
	}
	switch {
	case c.Stream == "":
		return &pipeline.OptionError{Option: "stream", Err: errors.New("name the stream")}
	case c.Field == "":
		return &pipeline.OptionError{Option: "field", Err: errors.New("name the field that holds the value")}
	}
	return nil
}

func (c Connection) client() (*redis.Client, error) {
	o, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // what an answer held that was lost is to be asked for again: the stages do that
	return redis.NewClient(o), nil
}

// check finds out whether the server answers.
func (c Connection) check(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return errors.Join(client.Ping(ctx).Err(), client.Close())
}
