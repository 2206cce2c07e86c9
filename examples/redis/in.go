package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// InOptions are those of redis-in.
type InOptions struct {
	Connection
	Group      string            `toml:"group" doc:"the consumer group; its members share the entries. It is made if it is not there, and begins with the first entry"`
	Consumer   string            `toml:"consumer" doc:"the name of this member: it gets what it had not acknowledged again"`
	ClaimAfter pipeline.Duration `toml:"claim_after" doc:"entries that another member has had for so long, without acknowledging them, are taken over; 0s takes none over. It must be longer than an item takes"`
	Format     string            `toml:"format" doc:"what an entry becomes: text as it is, or a record of JSON" enum:"text,json"`
}

var inDefaults = InOptions{
	Connection: Connection{Field: "value"}, Group: "webrace", Consumer: "webrace", ClaimAfter: pipeline.Duration(10 * time.Minute), Format: "text",
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "redis-in",
		Summary: "reads a stream of Redis",
		Doc: "An entry is acknowledged when all that was made of it has been dealt with: what is in work when a process dies comes again. " +
			"The meta data `stream` and `id` say where it comes from.",
		Out:    []pipeline.Port{{Kind: pipeline.KindOf[any](), Doc: "a text or a record"}},
		Effect: "take entries for the consumer group",
	}, inDefaults, func(o InOptions, env *pipeline.Env) (any, error) {
		return &source{options: o, env: env, failed: make(chan error, 1), entries: newLedger()}, nil
	})
}

// Validate refuses options that cannot work.
func (o InOptions) Validate() error {
	switch {
	case o.Group == "":
		return &pipeline.OptionError{Option: "group", Err: errors.New("name the group")}
	case o.Consumer == "":
		return &pipeline.OptionError{Option: "consumer", Err: errors.New("name this member of the group")}
	case o.ClaimAfter < 0:
		return &pipeline.OptionError{Option: "claim_after", Err: fmt.Errorf("%v is negative", o.ClaimAfter)}
	}
	return o.validate()
}

// Ports returns what leaves, by the format.
func (o InOptions) Ports() []pipeline.Port {
	if o.Format == "json" {
		return []pipeline.Port{{Kind: pipeline.KindOf[codec.Record](), Doc: "a record of JSON"}}
	}
	return []pipeline.Port{{Kind: pipeline.KindOf[string](), Doc: "the text of an entry"}}
}

type source struct {
	options InOptions
	env     *pipeline.Env
	client  *redis.Client
	failed  chan error // an entry that came back, which no queue is there to take
	entries *ledger
	stop    context.CancelFunc // of acknowledge
	acked   chan struct{}      // closed when it has ended
}

var (
	_ pipeline.Source  = (*source)(nil)
	_ pipeline.Opener  = (*source)(nil)
	_ pipeline.Closer  = (*source)(nil)
	_ pipeline.Checker = (*source)(nil)
)

// Open connects, and makes the group.
func (s *source) Open(ctx context.Context) (err error) {
	if s.client, err = s.options.client(); err != nil {
		return err
	}
	if err := s.makeGroup(ctx); err != nil {
		return err
	}
	var acknowledging context.Context
	acknowledging, s.stop = context.WithCancel(context.Background())
	s.acked = make(chan struct{})
	go s.acknowledge(acknowledging)
	return nil
}

// makeGroup makes the group, and the stream, if they are not there.
func (s *source) makeGroup(ctx context.Context) error {
	err := s.client.XGroupCreateMkStream(ctx, s.options.Stream, s.options.Group, "0").Err()
	if redis.HasErrorPrefix(err, "BUSYGROUP") {
		return nil
	}
	return asked(err, "make the group %s of stream %s", s.options.Group, s.options.Stream)
}

// Check finds out whether the server answers.
func (s *source) Check(ctx context.Context) error { return s.options.check(ctx) }

// Close tells the last acknowledgements, and disconnects.
func (s *source) Close() error {
	if s.client == nil {
		return nil
	}
	if s.stop != nil {
		s.stop()
		<-s.acked
	}
	err := s.client.Close()
	s.client = nil
	return err
}

// Entries are read so many at a time; a read waits so long for one.
const (
	readAtOnce = 100
	readWait   = time.Second
)

// Run emits entries until the run drains. An outage of the server is waited out. An item that came back ends it: its
// entry stays pending, and comes again.
func (s *source) Run(ctx context.Context, out pipeline.Emitter) error {
	var pause backoff
	for {
		err := s.consume(ctx, out, &pause)
		switch {
		case ctx.Err() != nil:
			return nil
		case !isOutage(err):
			return err
		case pause == backoff{}:
			s.env.Logger.Warn("the server is away: it is asked again until it answers", "stream", s.options.Stream, "error", err)
		}
		pause.wait(ctx)
	}
}

// consume emits what this member had not acknowledged and is not in work: what was in work when the process before this
// one died, or in an answer that an outage has swallowed. Then it emits what is new.
func (s *source) consume(ctx context.Context, out pipeline.Emitter, pause *backoff) error {
	err := s.makeGroup(ctx) // which a server that keeps nothing has forgotten
	if err == nil {
		err = s.pending(ctx, out)
	}
	claimed := time.Now()
	for err == nil && ctx.Err() == nil {
		*pause = backoff{} // it answers
		select {
		case err := <-s.failed:
			return err
		default:
		}
		if after := time.Duration(s.options.ClaimAfter); after > 0 && time.Since(claimed) > after/2 {
			err, claimed = s.claim(ctx, out), time.Now()
		}
		if err == nil {
			_, err = s.read(ctx, ">", out)
		}
	}
	return err
}

// pending emits what this member has not acknowledged, from the oldest on.
func (s *source) pending(ctx context.Context, out pipeline.Emitter) error {
	for last := "0"; ; {
		next, err := s.read(ctx, last, out)
		if err != nil || next == "" {
			return err
		}
		last = next
	}
}

// read emits entries after an ID, of those that this member has, or new ones; it returns the last ID.
func (s *source) read(ctx context.Context, after string, out pipeline.Emitter) (last string, err error) {
	streams, err := s.client.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: s.options.Group, Consumer: s.options.Consumer, Streams: []string{s.options.Stream, after}, Count: readAtOnce, Block: readWait,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	if err != nil {
		return "", asked(err, "read stream %s", s.options.Stream)
	}
	for _, stream := range streams {
		for _, m := range stream.Messages {
			last = m.ID
			if err := s.emit(ctx, m, out); err != nil {
				return "", err
			}
		}
	}
	return last, nil
}

// claim takes over what other members have had for too long.
func (s *source) claim(ctx context.Context, out pipeline.Emitter) error {
	for start := "0-0"; ; {
		entries, next, err := s.client.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: s.options.Stream, Group: s.options.Group, Consumer: s.options.Consumer, MinIdle: time.Duration(s.options.ClaimAfter),
			Start: start, Count: readAtOnce,
		}).Result()
		if err != nil {
			return asked(err, "claim entries of stream %s", s.options.Stream)
		}
		for _, m := range entries {
			s.env.Counter("claimed").Add(1)
			if err := s.emit(ctx, m, out); err != nil {
				return err
			}
		}
		if next == "0-0" {
			return nil
		}
		start = next
	}
}

func (s *source) emit(ctx context.Context, m redis.XMessage, out pipeline.Emitter) error {
	if !s.entries.begin(m.ID) {
		return nil
	}
	value, err := s.value(m)
	if err != nil { // it will not get any better
		s.env.Counter("malformed").Add(1)
		s.env.Logger.Warn("an entry is passed over", "stream", s.options.Stream, "id", m.ID, "error", err)
		s.entries.end(m.ID)
		return nil
	}
	place := fmt.Sprintf("%s/%s %s %s", s.env.Pipeline, s.env.Stage, s.options.Stream, m.ID)
	it := pipeline.NewItem(value, func(o pipeline.Outcome) { s.end(m.ID, o.Err) }).From(place, 0)
	return out.Emit(ctx, it.WithMeta("stream", s.options.Stream).WithMeta("id", m.ID))
}

// end acknowledges an entry that has been dealt with.
func (s *source) end(id string, err error) {
	switch {
	case err == nil:
		s.entries.end(id)
	case !errors.Is(err, context.Canceled):
		select {
		case s.failed <- err:
		default: // the run is ending already
		}
	}
}

func (s *source) value(m redis.XMessage) (any, error) {
	text, ok := m.Values[s.options.Field].(string)
	switch {
	case !ok && m.Values == nil:
		return nil, errors.New("it was deleted from the stream")
	case !ok:
		return nil, fmt.Errorf("it has no field %q (option field)", s.options.Field)
	case s.options.Format != "json":
		return text, nil
	}
	var record codec.Record
	err := recordjson.Unmarshal([]byte(text), &record)
	if err == nil && record == nil {
		err = errors.New("it is null, not an object")
	}
	return record, err
}
