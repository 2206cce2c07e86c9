package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/expression"
)

// OutOptions are those of kafka-out.
type OutOptions struct {
	Connection
	Topic string `toml:"topic" doc:"where items are written"`
	Key   string `toml:"key" is:"expression" doc:"an expression: items of one key are in one partition, in order; empty: they have no key"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "kafka-out",
		Summary: "writes items to a topic of Kafka",
		Doc: "An item is acknowledged once all replicas in sync have it, and is written again when the process dies before that. " +
			"Text and bytes are written as they are, and anything else as JSON.",
		In:     pipeline.Kinds(pipeline.KindOf[any]()),
		Needs:  []pipeline.Part{pipeline.AllParts},
		Effect: "write it to a topic",
		Batch:  pipeline.Batch{Count: 500, Period: pipeline.Duration(100 * time.Millisecond)},
	}, OutOptions{}, newSink)
}

// Validate refuses options that cannot work.
func (o OutOptions) Validate() error {
	if o.Topic == "" {
		return &pipeline.OptionError{Option: "topic", Err: errors.New("name a topic")}
	}
	if _, err := expression.CompileKey(o.Key); err != nil {
		return err
	}
	return o.validate()
}

type sink struct {
	options OutOptions
	key     *expression.Key
	client  *kgo.Client
}

var (
	_ pipeline.BatchProcessor = (*sink)(nil)
	_ pipeline.Opener         = (*sink)(nil)
	_ pipeline.Closer         = (*sink)(nil)
	_ pipeline.Checker        = (*sink)(nil)
)

func newSink(o OutOptions, _ *pipeline.Env) (any, error) {
	key, err := expression.CompileKey(o.Key)
	return &sink{options: o, key: key}, err
}

// Open connects.
func (s *sink) Open(ctx context.Context) (err error) {
	s.client, err = s.options.client(kgo.DefaultProduceTopic(s.options.Topic), kgo.RecordDeliveryTimeout(time.Minute))
	if err == nil {
		err = s.client.Ping(ctx)
	}
	return err
}

// Check finds out whether the cluster answers.
func (s *sink) Check(ctx context.Context) error {
	client, err := s.options.client()
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Ping(ctx)
}

// Close disconnects: all that was written is there.
func (s *sink) Close() error {
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
	return nil
}

// ProcessBatch writes a group, and returns when the cluster has it.
func (s *sink) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	records := make([]*kgo.Record, len(its))
	for i, it := range its {
		value, err := content(it.Value)
		if err != nil {
			return err
		}
		key, err := s.key.Of(it)
		if err != nil {
			return err
		}
		records[i] = &kgo.Record{Value: value}
		if s.key != nil {
			records[i].Key = []byte(key)
		}
	}
	if err := s.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write to topic %s: %w", s.options.Topic, err)
	}
	return nil
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
