package storecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
)

// replies are what the partitions said beside their rows.
type replies struct {
	mu     sync.Mutex
	notes  [][]string // of each that answered, by lines
	failed []failure  // of those that answered, and could not do it
}

type failure struct {
	partition, status int
	text              string
}

// heard notes how a command ended in a partition.
func (r *replies) heard(partition, status int, said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := strings.Split(strings.TrimRight(said, "\n"), "\n")
	if status != cli.OK {
		r.failed = append(r.failed, failure{partition, status, strings.TrimRight(said, "\n")})
		return
	}
	r.notes = append(r.notes, lines)
}

// conclude says what all partitions say, as one machine would, and returns what is missing.
func (r *replies) conclude(p *parts) error {
	err := p.lacking()
	if len(r.failed) == 0 {
		r.sayNotes(p.c)
		return err
	}
	slices.SortFunc(r.failed, func(a, b failure) int { return a.partition - b.partition })
	first := r.failed[0]
	alike := !slices.ContainsFunc(r.failed, func(f failure) bool { return f.text != first.text || f.status != first.status })
	if alike && len(r.notes) == 0 {
		note(p.c, "%s", first.text)
	} else {
		for _, f := range r.failed {
			note(p.c, "partition %s: %s", cli.PartitionName(f.partition), f.text)
		}
	}
	return cmp.Or(err, error(&cli.Error{Status: first.status}))
}

// sayNotes says what all of them say.
func (r *replies) sayNotes(c *cobra.Command) {
	if len(r.notes) == 0 {
		return
	}
	for _, line := range r.notes[0] {
		if line != "" && !slices.ContainsFunc(r.notes, func(said []string) bool { return !slices.Contains(said, line) }) {
			note(c, "%s", line)
		}
	}
}

// stream is the rows of a partition.
type stream struct {
	*json.Decoder
	end func() // returns when the partition asked for them is left
}

// streams asks all partitions for rows.
func (p *parts) streams(ctx context.Context, r *replies, in func() io.Reader, args []string) []stream {
	all := make([]stream, p.where.Partitions)
	for partition := range all {
		reader, writer := io.Pipe()
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			var said bytes.Buffer
			call := remote.Call{In: in(), Out: writer, Err: &said}
			call.Args, call.Part = args, &remote.Part{Partition: partition, Ask: p.ask, Rows: true}
			status, err := p.run(ctx, call)
			switch {
			case errors.As(err, new(*unreachable)):
				err = nil
			case err != nil:
				r.heard(partition, cli.Environment, err.Error())
			default:
				r.heard(partition, status, said.String())
			}
			writer.CloseWithError(err)
		}()
		all[partition] = stream{json.NewDecoder(reader), func() {
			cancel()
			reader.Close()
			<-ended
		}}
	}
	return all
}

// merged yields the rows of all partitions in an order that each of them is in; of those that are equal in it, join, if
// there is one, makes one.
func merged[T any](streams []stream, compare func(a, b T) int, join func(to *T, more T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		heads := make([]*T, len(streams))
		next := func(i int) error {
			heads[i] = new(T)
			err := streams[i].Decode(heads[i])
			if err != nil {
				heads[i] = nil
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		var none T
		for i := range streams {
			if err := next(i); err != nil && !yield(none, err) {
				return
			}
		}
		for {
			first := -1
			for i, head := range heads {
				if head != nil && (first < 0 || compare(*head, *heads[first]) < 0) {
					first = i
				}
			}
			if first < 0 {
				return
			}
			row := *heads[first]
			err := next(first)
			for i := first + 1; err == nil && join != nil && i < len(heads); i++ {
				for err == nil && heads[i] != nil && compare(*heads[i], row) == 0 {
					join(&row, *heads[i])
					err = next(i)
				}
			}
			if !yield(row, nil) || err != nil && !yield(none, err) {
				return
			}
		}
	}
}

// ofParts lists what all partitions list, in an order that each of them is in, if the command is asked of these, and
// reports whether it is. Of rows that are equal in the order, join makes one.
func (l listing[T]) ofParts(
	c *cobra.Command, globals *cli.Globals, asJSON bool, compare func(a, b T) int, join func(to *T, more T),
) (asked bool, err error) {
	return withParts(c, globals, func(p *parts) error {
		none := func() io.Reader { return strings.NewReader("") }
		return eachRow(p, none, globals.Args, compare, join, func(rows iter.Seq2[T, error]) error {
			_, err := l.print(c, asJSON, rows)
			return err
		})
	})
}

// eachRow has f go through the rows of all partitions, and then says what these said.
func eachRow[T any](
	p *parts, in func() io.Reader, args []string, compare func(a, b T) int, join func(to *T, more T), f func(iter.Seq2[T, error]) error,
) error {
	var r replies
	streams := p.streams(p.c.Context(), &r, in, args)
	err := f(merged(streams, compare, join))
	for _, s := range streams {
		s.end()
	}
	if err != nil {
		return err
	}
	return r.conclude(p)
}

// write writes rows for who puts them together with those of other partitions.
func (l listing[T]) write(c *cobra.Command, values iter.Seq2[T, error]) (n int, err error) {
	out := json.NewEncoder(c.OutOrStdout())
	for v, err := range values {
		if err == nil {
			err = out.Encode(v)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// sharing writes a value for who adds it up with those of other partitions, if the command is asked for a part, or has
// show show it.
func sharing(c *cobra.Command, value any, show func() error) error {
	if part := partOf(c); part != nil && part.Rows {
		return json.NewEncoder(c.OutOrStdout()).Encode(value)
	}
	return show()
}

// inAll runs the command in all partitions, which write nothing to standard output, or none if one of them cannot be
// reached.
func inAll(c *cobra.Command, globals *cli.Globals) (asked bool, err error) {
	return withParts(c, globals, func(p *parts) error {
		p.fills = true
		if err := p.reach(); err != nil {
			return err
		}
		none := func() io.Reader { return strings.NewReader("") }
		return eachRow(p, none, globals.Args, func(_, _ struct{}) int { return 0 }, nil, func(rows iter.Seq2[struct{}, error]) error {
			for _, err := range rows {
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// reach tries whether all nodes can be asked.
func (p *parts) reach() error {
	for _, node := range slices.Compact(slices.Sorted(slices.Values(p.where.Node))) {
		if p.dirOf(node) != "" {
			continue
		}
		conn, err := p.dial(p.c.Context(), node)
		if err != nil {
			p.cannotAsk(node, err)
			continue
		}
		conn.Close()
	}
	return p.lacking()
}

// sumOf asks all partitions for a value each, and adds them up.
func sumOf[T any](c *cobra.Command, globals *cli.Globals, add func(to *T, more T), show func(T) error) (asked bool, err error) {
	return withParts(c, globals, func(p *parts) error {
		none := func() io.Reader { return strings.NewReader("") }
		return eachRow(p, none, globals.Args, func(_, _ T) int { return 0 }, add, func(rows iter.Seq2[T, error]) error {
			for sum, err := range rows {
				if err == nil {
					err = show(sum)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
