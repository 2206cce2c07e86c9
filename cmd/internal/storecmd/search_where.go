package storecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

// indexHere is the index of a data directory.
type indexHere struct {
	*searchOptions
	dir   *storage.Dir
	index *fulltext.Store
}

func (i indexHere) find(ctx context.Context, q fulltext.Query) (fulltext.Results, error) {
	return i.index.Search(ctx, q)
}

func (i indexHere) suggest(ctx context.Context, text string) (string, error) {
	return i.index.Suggest(ctx, text)
}

func (i indexHere) sizes(context.Context) (indexed, waiting uint64, err error) {
	if indexed, err = i.index.Count(); err != nil {
		return 0, 0, err
	}
	waiting, _ = i.dir.Unsearchable() // without it, nothing is said of them
	return indexed, waiting, nil
}

func (i indexHere) fragments(_ context.Context, hits []fulltext.Hit, marks fulltext.Marks) ([]hitText, error) {
	all := make([]hitText, len(hits))
	cache, cacheErr := i.dir.Objects()
	for n, hit := range hits {
		err := cacheErr
		if err == nil {
			all[n].Fragments, err = i.fragmentsFrom(cache, hit, marks)
		}
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			all[n].Unread = err.Error()
		}
	}
	return all, nil
}

// searchAsk is what the search of a partition is asked for: one of these.
type searchAsk struct {
	Question *fulltext.Question `json:"question,omitempty"`
	Hits     []fulltext.Hit     `json:"hits,omitempty"` // of which the texts are wanted
	Marks    fulltext.Marks     `json:"marks"`
}

// searchReply answers it.
type searchReply struct {
	fulltext.Answer
	Texts            []hitText `json:"texts,omitempty"`
	Indexed, Waiting uint64
}

// reply answers for a partition.
func (i indexHere) reply(c *cobra.Command, part *remote.Part) (err error) {
	var ask searchAsk
	if err := json.Unmarshal(part.Ask, &ask); err != nil {
		return err
	}
	var r searchReply
	switch {
	case ask.Question != nil:
		r.Answer, err = i.index.Answer(c.Context(), *ask.Question)
	case ask.Hits != nil:
		r.Texts, err = i.fragments(c.Context(), ask.Hits, ask.Marks)
	default:
		r.Indexed, r.Waiting, err = i.sizes(c.Context())
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(c.OutOrStdout()).Encode(r)
}

// indexesOfParts are the indexes of all partitions of a cluster.
type indexesOfParts struct{ *parts }

// searchParts searches all partitions as one.
func (o *searchOptions) searchParts(c *cobra.Command, p *parts) error {
	if err := o.show(c, indexesOfParts{p}); err != nil {
		return err
	}
	return p.lacking()
}

// ask asks the search of a partition.
func (i indexesOfParts) ask(ctx context.Context, partition int, ask searchAsk) (r searchReply, err error) {
	text, err := json.Marshal(ask)
	if err != nil {
		return r, err
	}
	var out, said bytes.Buffer
	call := remote.Call{In: strings.NewReader(""), Out: &out, Err: &said}
	call.Args, call.Part = i.globals.Args, &remote.Part{Partition: partition, Ask: text, Rows: true}
	status, err := i.run(ctx, call)
	if err == nil && status != cli.OK {
		text := strings.TrimPrefix(strings.TrimSpace(said.String()), "error: ")
		err = &cli.Error{Status: status, Err: fmt.Errorf("partition %s: %s", cli.PartitionName(partition), text)}
	}
	if err == nil {
		err = json.NewDecoder(&out).Decode(&r)
	}
	return r, err
}

// indexOfPart is the index of a partition.
type indexOfPart struct {
	indexesOfParts
	partition int
}

// Answer answers nothing for a partition of a node that cannot be reached, which is said in the end.
func (i indexOfPart) Answer(ctx context.Context, q fulltext.Question) (fulltext.Answer, error) {
	r, err := i.ask(ctx, i.partition, searchAsk{Question: &q})
	if errors.As(err, new(*unreachable)) {
		return fulltext.Answer{Statistics: &fulltext.Statistics{}}, nil
	}
	return r.Answer, err
}

func (i indexesOfParts) all() (all []fulltext.Part) {
	for p := range i.where.Partitions {
		all = append(all, indexOfPart{i, p})
	}
	return all
}

func (i indexesOfParts) find(ctx context.Context, q fulltext.Query) (fulltext.Results, error) {
	return fulltext.SearchParts(ctx, q, i.all())
}

func (i indexesOfParts) suggest(ctx context.Context, text string) (string, error) {
	return fulltext.SuggestFromParts(ctx, text, i.all())
}

func (i indexesOfParts) sizes(ctx context.Context) (indexed, waiting uint64, err error) {
	for p := range i.where.Partitions {
		r, err := i.ask(ctx, p, searchAsk{})
		if err != nil && !errors.As(err, new(*unreachable)) {
			return 0, 0, err
		}
		indexed, waiting = indexed+r.Indexed, waiting+r.Waiting
	}
	return indexed, waiting, nil
}

// fragments asks each partition that has hits for the texts of all of these.
func (i indexesOfParts) fragments(ctx context.Context, hits []fulltext.Hit, marks fulltext.Marks) ([]hitText, error) {
	of := make(map[int][]int)
	for n, hit := range hits {
		p := cluster.PartitionOf(urlnorm.Host(hit.URL), i.where.Partitions)
		of[p] = append(of[p], n)
	}
	all := make([]hitText, len(hits))
	var mu sync.Mutex
	var errs []error
	var asking sync.WaitGroup
	for p, mine := range of {
		asking.Go(func() {
			ask := searchAsk{Marks: marks}
			for _, n := range mine {
				ask.Hits = append(ask.Hits, hits[n])
			}
			r, err := i.ask(ctx, p, ask)
			if err == nil && len(r.Texts) != len(mine) {
				err = fmt.Errorf("partition %s: it answers for %d hits of %d", cli.PartitionName(p), len(r.Texts), len(mine))
			}
			mu.Lock()
			defer mu.Unlock()
			for k, n := range mine {
				if err == nil {
					all[n] = r.Texts[k]
				} else if errors.As(err, new(*unreachable)) {
					all[n].Unread = err.Error()
				}
			}
			if err != nil && !errors.As(err, new(*unreachable)) {
				errs = append(errs, err)
			}
		})
	}
	asking.Wait()
	return all, errors.Join(errs...)
}
