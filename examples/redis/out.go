package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// OutOptions are those of redis-out.
type OutOptions struct {
	Connection
	MaxLength int64 `toml:"max_length" doc:"about how many entries the stream keeps, the newest; 0 keeps all"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "redis-out",
		Summary: "adds items to a stream of Redis",
		Doc: "An item is acknowledged once the server has added it, and is added again when the process dies before that. " +
			"Text and bytes are written as they are, and anything else as JSON. How durable an entry is, the server's appendfsync says.",
		In:     pipeline.Kinds(pipeline.KindOf[any]()),
		Needs:  []pipeline.Part{pipeline.AllParts},
		Effect: "add it to a stream",
		Batch:  pipeline.Batch{Count: 100, Period: pipeline.Duration(100 * time.Millisecond)},
	}, OutOptions{Connection: Connection{Field: "value"}}, func(o OutOptions, _ *pipeline.Env) (any, error) { return &sink{options: o}, nil })
}

// Validate refuses options that cannot work.
func (o OutOptions) Validate() error {
	if o.MaxLength < 0 {
		return &pipeline.OptionError{Option: "max_length", Err: fmt.Errorf("%d is negative", o.MaxLength)}
	}
	return o.validate()
}

type sink struct {
	options OutOptions
	client  *redis.Client
}

var (
	_ pipeline.BatchProcessor = (*sink)(nil)
	_ pipeline.Opener         = (*sink)(nil)
	_ pipeline.Closer         = (*sink)(nil)
	_ pipeline.Checker        = (*sink)(nil)
)

// Open connects.
func (s *sink) Open(ctx context.Context) (err error) {
	if s.client, err = s.options.client(); err == nil {
		err = s.client.Ping(ctx).Err()
	}
	return err
}

// Check finds out whether the server answers.
func (s *sink) Check(ctx context.Context) error { return s.options.check(ctx) }

// Close disconnects: all that was written is there.
func (s *sink) Close() error {
	if s.client == nil {
		return nil
	}
	err := s.client.Close()
	s.client = nil
	return err
}

// patience is how long an outage of the server is waited out, before the items are errors.
const patience = time.Minute

// ProcessBatch adds a group in one transaction, so that all of it is added or nothing. One whose answer an outage has
// swallowed is added again.
func (s *sink) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	values := make([][]byte, len(its))
	for i, it := range its {
		var err error
		if values[i], err = content(it.Value); err != nil {
			return err
		}
	}
	var pause backoff
	for until := time.Now().Add(patience); ; {
		err := s.add(ctx, values)
		if !isOutage(err) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		pause.wait(ctx)
	}
}

func (s *sink) add(ctx context.Context, values [][]byte) error {
	adding := s.client.TxPipeline()
	for _, value := range values {
		adding.XAdd(ctx, &redis.XAddArgs{Stream: s.options.Stream, MaxLen: s.options.MaxLength, Approx: s.options.MaxLength > 0, Values: []any{s.options.Field, value}})
	}
	_, err := adding.Exec(ctx)
	return asked(err, "add to stream %s", s.options.Stream)
}

// content is what is written of a value.
func content(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case codec.Record:
		return json.Marshal(v)
	}
	return json.Marshal(codec.Fields(v))
}
