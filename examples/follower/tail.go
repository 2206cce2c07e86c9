// Package follower is an example of a stage that follows a store by a durable cursor: tail reads the lines that others
// append to a file, such as a log. After a crash it goes on behind the last line that has been dealt with.
//
//	flow = ["tail > http-out"]
package follower

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// Options of the stage.
type Options struct {
	Path   string `toml:"path" doc:"the file that others append lines to"`
	Cursor string `toml:"cursor" doc:"the file that remembers how far it has been read"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "tail",
		Summary: "follows the lines of a file",
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[string](), Doc: "a line"}},
		Follows: true,
	}, Options{}, func(o Options, env *pipeline.Env) (any, error) { return &stage{o, env}, nil })
}

type stage struct {
	options Options
	env     *pipeline.Env
}

// line is an entry of the log: its number is where it ends in the file.
type line struct {
	end  uint64
	text string
}

// Run emits the lines behind the cursor, which advances over those that have been dealt with.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	return pipeline.Follow(ctx, s.env, pipeline.Log[line]{
		Next: s.next, Last: s.last, Cursor: s.cursor, SetCursor: s.setCursor,
		Seq:   func(l line) uint64 { return l.end },
		Value: func(_ context.Context, l line) (any, error) { return l.text, nil },
	}, out)
}

// next waits for lines behind a place. One without an end is still being written.
func (s *stage) next(ctx context.Context, after uint64, max int) (lines []line, err error) {
	for {
		if lines, err = s.read(after, max); err != nil || len(lines) > 0 {
			return lines, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *stage) read(after uint64, max int) (lines []line, err error) {
	file, err := os.Open(s.options.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := bufio.NewReader(io.NewSectionReader(file, int64(after), 1<<62))
	for len(lines) < max {
		text, err := reader.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		after += uint64(len(text))
		lines = append(lines, line{after, strings.TrimRight(text, "\r\n")})
	}
	return lines, nil
}

// last returns where the last whole line ends.
func (s *stage) last(context.Context) (uint64, error) {
	text, err := os.ReadFile(s.options.Path)
	return uint64(bytes.LastIndexByte(text, '\n') + 1), err
}

func (s *stage) cursor(context.Context) (uint64, error) {
	text, err := os.ReadFile(s.options.Cursor)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(text), 10, 63)
}

// setCursor replaces the file in one step, so that a program that is killed leaves the old place or the new.
func (s *stage) setCursor(_ context.Context, at uint64) error {
	if s.env.Dry {
		return nil
	}
	next := s.options.Cursor + ".new"
	if err := os.WriteFile(next, strconv.AppendUint(nil, at, 10), 0o600); err != nil {
		return err
	}
	return os.Rename(next, s.options.Cursor)
}
