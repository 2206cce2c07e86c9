package storecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/storage"
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
	Answers          []fulltext.Answer `json:"answers,omitempty"`
	Texts            []hitText         `json:"texts,omitempty"`
	Indexed, Waiting uint64
}

// answer answers for the partitions that are asked, at the same time, one reply behind the other.
func (o *searchOptions) answer(c *cobra.Command, globals *cli.Globals, part *remote.Part) error {
	var ask searchAsk
	if err := json.Unmarshal(part.Ask, &ask); err != nil {
		return err
	}
	var replies []searchReply
	dirs, err := togetherOf(c), error(nil)
	if len(dirs) > 1 {
		partitions := append([]int{part.Partition}, part.More...)
		replies, err = eachAtOnce(partitions, func(partition int) (reply searchReply, err error) {
			if reply, err = o.reply(c.Context(), dirs[slices.Index(partitions, partition)], ask); err != nil {
				err = fmt.Errorf("partition %s: %w", cli.PartitionName(partition), err)
			}
			return reply, err
		})
	} else {
		replies = make([]searchReply, 1)
		err = o.look(c, globals, func(dir *storage.Dir) (err error) {
			replies[0], err = o.reply(c.Context(), dir, ask)
			return err
		})
	}
	out := json.NewEncoder(c.OutOrStdout())
	for _, r := range replies {
		if err == nil {
			err = out.Encode(r)
		}
	}
	return err
}

// reply answers for a partition.
func (o *searchOptions) reply(ctx context.Context, dir *storage.Dir, ask searchAsk) (r searchReply, err error) {
	index, done, err := o.index(ctx, dir)
	if err != nil {
		return r, err
	}
	defer done()
	here := indexHere{o, dir, index}
	switch {
	case ask.Question != nil:
		r.Answers, err = index.Answers(ctx, *ask.Question)
	case ask.Hits != nil:
		r.Texts, err = here.fragments(ctx, ask.Hits, ask.Marks)
	default:
		r.Indexed, r.Waiting, err = here.sizes(ctx)
	}
	return r, err
}

// indexesOfParts are the indexes of all partitions of a cluster.
type indexesOfParts struct {
	*parts
	rest *partsAtRest
}

// searchParts searches all partitions as one.
func (o *searchOptions) searchParts(c *cobra.Command, p *parts) error {
	rest := newPartsAtRest(o, p)
	err := errors.Join(o.show(c, indexesOfParts{p, rest}), rest.close())
	if err != nil {
		return err
	}
	return p.lacking()
}

// ask asks the search of partitions of a node, which answer in their order.
func (i indexesOfParts) ask(ctx context.Context, partitions []int, ask searchAsk) (all []searchReply, err error) {
	text, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	call := remote.Call{In: strings.NewReader(""), Out: &out, Err: &said}
	call.Args, call.Part = i.globals.Args, &remote.Part{Partition: partitions[0], More: partitions[1:], Ask: text, Rows: true}
	conn, err := i.connect(ctx, call.Part)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return i.rest.ask(ctx, partitions, ask)
	}
	status, err := i.runOn(ctx, conn, call)
	if err == nil && status != cli.OK {
		text := strings.TrimPrefix(strings.TrimSpace(said.String()), "error: ")
		if len(partitions) == 1 { // of several, which one it is is said
			text = fmt.Sprintf("partition %s: %s", cli.PartitionName(partitions[0]), text)
		}
		err = &cli.Error{Status: status, Err: errors.New(text)}
	}
	for decoder := json.NewDecoder(&out); err == nil && len(all) < len(partitions); {
		var r searchReply
		if err = decoder.Decode(&r); err == nil {
			all = append(all, r)
		}
	}
	return all, err
}

// together groups partitions that are asked in one call: all of a node.
func (i indexesOfParts) together(partitions iter.Seq[int]) [][]int {
	of := make(map[int][]int)
	for p := range partitions {
		node := i.where.Node[p]
		of[node] = append(of[node], p)
	}
	return slices.Collect(maps.Values(of))
}

// indexesTogether are the indexes of partitions that are asked in one call.
type indexesTogether struct {
	indexesOfParts
	partitions []int
}

// Answers answers nothing for partitions of a node that cannot be reached, which is said in the end.
func (i indexesTogether) Answers(ctx context.Context, q fulltext.Question) (all []fulltext.Answer, err error) {
	replies, err := i.ask(ctx, i.partitions, searchAsk{Question: &q})
	if errors.As(err, new(*unreachable)) {
		return nil, nil
	}
	for _, r := range replies {
		all = append(all, r.Answers...)
	}
	return all, err
}

func (i indexesOfParts) everywhere() iter.Seq[int] {
	return func(yield func(int) bool) {
		for p := 0; p < i.where.Partitions && yield(p); p++ {
		}
	}
}

func (i indexesOfParts) all() (all []fulltext.Part) {
	for _, partitions := range i.together(i.everywhere()) {
		all = append(all, indexesTogether{i, partitions})
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
	for _, partitions := range i.together(i.everywhere()) {
		replies, err := i.ask(ctx, partitions, searchAsk{})
		if err != nil && !errors.As(err, new(*unreachable)) {
			return 0, 0, err
		}
		for _, r := range replies {
			indexed, waiting = indexed+r.Indexed, waiting+r.Waiting
		}
	}
	return indexed, waiting, nil
}

// fragments asks the partitions that have hits for the texts of these: of one that another has, a partition says
// nothing.
func (i indexesOfParts) fragments(ctx context.Context, hits []fulltext.Hit, marks fulltext.Marks) ([]hitText, error) {
	homes := make(map[int]bool)
	for _, hit := range hits {
		homes[i.homeOf(hit.URL)] = true
	}
	all := make([]hitText, len(hits))
	var mu sync.Mutex
	var errs []error
	var asking sync.WaitGroup
	for _, partitions := range i.together(maps.Keys(homes)) {
		asking.Go(func() {
			replies, err := i.ask(ctx, partitions, searchAsk{Hits: hits, Marks: marks})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !errors.As(err, new(*unreachable)) {
				errs = append(errs, err)
			}
			for n, hit := range hits {
				at := slices.Index(partitions, i.homeOf(hit.URL))
				switch {
				case at < 0:
				case at < len(replies) && n < len(replies[at].Texts):
					all[n] = replies[at].Texts[n]
				case err != nil:
					all[n].Unread = err.Error()
				}
			}
		})
	}
	asking.Wait()
	return all, errors.Join(errs...)
}
