package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// InOptions are those of kafka-in.
type InOptions struct {
	Connection
	Topics []string `toml:"topics" doc:"what is read"`
	Group  string   `toml:"group" doc:"the consumer group, which keeps the position; its members share the partitions"`
	Format string   `toml:"format" doc:"what a record becomes: text as it is, or a record of JSON" enum:"text,json"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "kafka-in",
		Summary: "reads topics of Kafka",
		Doc: "The position of the group moves past a record when it, and all before it in its partition, have been dealt with: " +
			"what is in work when a process dies comes again. The meta data `topic`, `partition`, `offset` and `key` say where it comes from.",
		Out:    []pipeline.Port{{Kind: pipeline.KindOf[any](), Doc: "a text or a record"}},
		Effect: "join the consumer group, and move its position",
	}, InOptions{Group: "webrace", Format: "text"}, func(o InOptions, env *pipeline.Env) (any, error) {
		return &source{options: o, env: env, failed: make(chan error, 1), partitions: map[partition]*progress{}}, nil
	})
}

// Validate refuses options that cannot work.
func (o InOptions) Validate() error {
	switch {
	case len(o.Topics) == 0:
		return &pipeline.OptionError{Option: "topics", Err: errors.New("name a topic")}
	case o.Group == "":
		return &pipeline.OptionError{Option: "group", Err: errors.New("name the group that keeps the position")}
	}
	return o.validate()
}

// Ports returns what leaves, by the format.
func (o InOptions) Ports() []pipeline.Port {
	if o.Format == "json" {
		return []pipeline.Port{{Kind: pipeline.KindOf[codec.Record](), Doc: "a record of JSON"}}
	}
	return []pipeline.Port{{Kind: pipeline.KindOf[string](), Doc: "the text of a record"}}
}

type source struct {
	options InOptions
	env     *pipeline.Env
	client  *kgo.Client
	failed  chan error // a record that came back, which no queue is there to take

	positions
	partitions map[partition]*progress
}

var (
	_ pipeline.Source  = (*source)(nil)
	_ pipeline.Opener  = (*source)(nil)
	_ pipeline.Closer  = (*source)(nil)
	_ pipeline.Checker = (*source)(nil)
)

// Open joins the group.
func (s *source) Open(ctx context.Context) (err error) {
	drop := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { s.drop(lost) }
	s.client, err = s.options.client(
		kgo.ConsumerGroup(s.options.Group), kgo.ConsumeTopics(s.options.Topics...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Second),
		kgo.OnPartitionsLost(drop),
		kgo.OnPartitionsRevoked(func(ctx context.Context, c *kgo.Client, lost map[string][]int32) {
			if err := c.CommitMarkedOffsets(ctx); err != nil {
				s.env.Logger.Warn("the position of partitions that another member gets was not committed: it gets records again", "error", err)
			}
			drop(ctx, c, lost)
		}))
	if err == nil {
		err = s.client.Ping(ctx)
	}
	return err
}

// Check finds out whether the cluster answers.
func (s *source) Check(ctx context.Context) error {
	client, err := s.options.client()
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Ping(ctx)
}

// Close commits the position, and leaves the group.
func (s *source) Close() error {
	s.mu.Lock()
	client := s.client
	s.client = nil // a lease of a run that is cancelled may end later
	s.mu.Unlock()
	if client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := client.CommitMarkedOffsets(ctx)
	client.Close()
	return err
}

// polled is how many records are taken at a time.
const polled = 500

// Run emits records until the run drains. An item that came back ends it: what follows the item in its partition could
// not be committed any more.
func (s *source) Run(ctx context.Context, out pipeline.Emitter) error {
	polling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case err := <-s.failed:
			stop(err)
		case <-polling.Done():
		}
	}()
	for {
		fetches := s.client.PollRecords(polling, polled)
		if ctx.Err() != nil {
			return nil
		}
		if polling.Err() != nil {
			return context.Cause(polling)
		}
		for _, f := range fetches.Errors() {
			if !isOutage(f.Err) {
				return fmt.Errorf("read partition %d of %s: %w", f.Partition, f.Topic, f.Err)
			}
			s.env.Logger.Warn("the cluster is away: it is asked again until it answers", "error", f.Err)
		}
		for _, r := range fetches.Records() {
			if err := s.emit(ctx, r, out); err != nil {
				return err
			}
		}
	}
}

// isOutage reports whether an error is that of a cluster which does not answer or is not ready, as the library tells of
// the group when it tries again: not that of one which refuses what it is asked.
func isOutage(err error) bool {
	var session *kgo.ErrGroupSession
	var refusal *kerr.Error
	return errors.As(err, &session) && (!errors.As(err, &refusal) || refusal.Retriable)
}

func (s *source) emit(ctx context.Context, r *kgo.Record, out pipeline.Emitter) error {
	end := s.begin(r)
	value, err := s.value(r)
	if err != nil { // it will not get any better
		s.env.Counter("malformed").Add(1)
		s.env.Logger.Warn("a record is no JSON, and is passed over", "topic", r.Topic, "partition", r.Partition, "offset", r.Offset, "error", err)
		end(pipeline.Outcome{})
		return nil
	}
	place := fmt.Sprintf("%s/%s %s/%d", s.env.Pipeline, s.env.Stage, r.Topic, r.Partition)
	it := pipeline.NewItem(value, end).From(place, uint64(r.Offset)).WithMeta("topic", r.Topic).WithMeta("key", string(r.Key)).
		WithMeta("partition", strconv.Itoa(int(r.Partition))).WithMeta("offset", strconv.FormatInt(r.Offset, 10))
	return out.Emit(ctx, it)
}

func (s *source) value(r *kgo.Record) (any, error) {
	if s.options.Format != "json" {
		return string(r.Value), nil
	}
	var record codec.Record
	err := recordjson.Unmarshal(r.Value, &record)
	if err == nil && record == nil {
		err = errors.New("it is null, not an object")
	}
	return record, err
}
