package storecmd

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
	"golang.org/x/sync/errgroup"
)

// searchAsk is what a node is asked of partitions that it has: a question to their indexes, the texts of hits that
// they had, or, without either, how many documents they have.
type searchAsk struct {
	Partitions []int              `json:"partitions,omitempty"`
	Secret     string             `json:"secret,omitempty"` // with whose credentials the documents were fetched
	Question   *fulltext.Question `json:"question,omitempty"`

	Hits  []fulltext.Hit `json:"hits,omitempty"`
	Text  string         `json:"text,omitempty"` // of the query that found them
	Marks fulltext.Marks `json:"marks"`
}

// searchReply is what the partitions say together.
type searchReply struct {
	Answer  *fulltext.Answer `json:"answer,omitempty"`
	Texts   []hitText        `json:"texts,omitempty"`
	Indexed uint64           `json:"indexed,omitempty"`
	Waiting uint64           `json:"waiting,omitempty"`
}

// answer answers for partitions whose directories this process opens; one that is not there yet has none, and nothing.
func (ask searchAsk) answer(ctx context.Context, open func(partition int) (*storage.Dir, error)) (r searchReply, err error) {
	if ask.Hits != nil {
		highlighter := fulltext.NewHighlighter(ask.Text)
		r.Texts, err = eachAtOnce(processors(), ask.Hits, func(hit fulltext.Hit) (text hitText, err error) {
			dir, err := open(hit.Partition)
			if dir != nil {
				text = hitTextOf(dir, ask.Secret, highlighter, hit, ask.Marks)
			}
			return text, err
		})
		return r, err
	}
	sum := heard{ask: ask}
	if err := sum.add(searchReply{}); err != nil {
		return r, err
	}
	_, err = eachAtOnce(processors(), ask.Partitions, func(partition int) (_ struct{}, err error) {
		dir, err := open(partition)
		if dir != nil {
			var one searchReply
			if one, err = sum.next().answerOf(ctx, partition, dir); err == nil {
				err = sum.add(one)
			}
		}
		if err != nil {
			err = fmt.Errorf("partition %s: %w", cli.PartitionName(partition), err)
		}
		return struct{}{}, err
	})
	return sum.reply, err
}

// heard is what some of the partitions have said.
type heard struct {
	ask   searchAsk
	mu    sync.Mutex
	reply searchReply
}

// next returns what is asked next: of hits behind those that will do already, a partition need not read what they are.
func (g *heard) next() searchAsk {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.ask.Question
	if q == nil || q.Given == nil || len(g.reply.Answer.Results.Hits) < q.Query.From+q.Query.Size {
		return g.ask
	}
	next, question := g.ask, *q
	last := g.reply.Answer.Results.Hits[q.Query.From+q.Query.Size-1]
	question.Last = &last
	next.Question = &question
	return next
}

// add adds what a partition says.
func (g *heard) add(r searchReply) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reply.Indexed, g.reply.Waiting = g.reply.Indexed+r.Indexed, g.reply.Waiting+r.Waiting
	if g.ask.Question == nil {
		return nil
	}
	var answers []fulltext.Answer
	for _, a := range []*fulltext.Answer{g.reply.Answer, r.Answer} {
		if a != nil {
			answers = append(answers, *a)
		}
	}
	merged, err := fulltext.Merge(*g.ask.Question, answers)
	g.reply.Answer = &merged
	return err
}

// answerOf answers for a partition.
func (ask searchAsk) answerOf(ctx context.Context, partition int, dir *storage.Dir) (r searchReply, err error) {
	index, done, err := searchedIndex(ctx, dir, ask.Secret)
	if err != nil {
		return r, err
	}
	defer done()
	if ask.Question == nil {
		r.Indexed, r.Waiting, err = indexHere{dir: dir, index: index}.sizes(ctx)
		return r, err
	}
	answer, err := index.Answer(ctx, *ask.Question)
	for n := range answer.Results.Hits {
		answer.Results.Hits[n].Partition = partition
	}
	return searchReply{Answer: &answer}, err
}

// hitTextOf returns the parts of the text of a hit that answer the query best, or why it cannot be read.
func hitTextOf(dir *storage.Dir, secret string, h *fulltext.Highlighter, hit fulltext.Hit, marks fulltext.Marks) (text hitText) {
	cache, err := dir.Objects()
	if err == nil {
		text.Fragments, err = fragmentsFrom(cache, secret, h, hit, marks)
	}
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		text.Unread = err.Error()
	}
	return text
}

func processors() int { return runtime.GOMAXPROCS(0) }

// eachAtOnce calls f for so many values at the same time, and returns what it returns in their order. A panic of f is
// one of its caller, which alone fails where it is a command for a client.
func eachAtOnce[T, R any](most int, values []T, f func(T) (R, error)) ([]R, error) {
	results := make([]R, len(values))
	var panicked sync.Map
	var group errgroup.Group
	group.SetLimit(most)
	for i, value := range values {
		group.Go(func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					panicked.Store(i, fmt.Sprintf("%v\n%s", v, debug.Stack()))
				}
			}()
			results[i], err = f(value)
			return err
		})
	}
	err := group.Wait()
	for _, v := range panicked.Range {
		panic(v)
	}
	return results, err
}
