package storecmd

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
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
	all, highlighter := make([]hitText, len(hits)), fulltext.NewHighlighter(i.query.Text)
	for n, hit := range hits {
		all[n] = hitTextOf(i.dir, i.secret, highlighter, hit, marks)
	}
	return all, nil
}

// indexesOfParts are the indexes of all partitions of a cluster. Each node is asked for all that it has.
type indexesOfParts struct {
	*parts
	o     *searchOptions
	nodes *searchedNodes
	rest  *partsAtRest
}

// searchParts searches all partitions as one.
func (o *searchOptions) searchParts(c *cobra.Command, p *parts) (err error) {
	i := indexesOfParts{parts: p, o: o, rest: newPartsAtRest(o, p)}
	if p.running != nil {
		i.nodes = &p.running.nodes
	} else {
		i.nodes = new(searchedNodes)
		defer i.nodes.close()
	}
	if err := errors.Join(o.show(c, i), i.rest.close()); err != nil {
		return err
	}
	return p.lacking()
}

func (i indexesOfParts) find(ctx context.Context, q fulltext.Query) (fulltext.Results, error) {
	return fulltext.SearchParts(ctx, q, i.answer)
}

func (i indexesOfParts) suggest(ctx context.Context, text string) (string, error) {
	return fulltext.SuggestFromParts(ctx, text, i.answer)
}

func (i indexesOfParts) answer(ctx context.Context, q fulltext.Question) (fulltext.Answer, error) {
	var answers []fulltext.Answer
	err := i.askAll(ctx, searchAsk{Question: &q}, func(r searchReply) { answers = append(answers, *r.Answer) })
	if err != nil {
		return fulltext.Answer{}, err
	}
	return fulltext.Merge(q, answers)
}

func (i indexesOfParts) sizes(ctx context.Context) (indexed, waiting uint64, err error) {
	err = i.askAll(ctx, searchAsk{}, func(r searchReply) {
		indexed, waiting = indexed+r.Indexed, waiting+r.Waiting
	})
	return indexed, waiting, err
}

// askAll asks all nodes, and has f take what those say that can be asked: what of the others is missing is said in the
// end.
func (i indexesOfParts) askAll(ctx context.Context, ask searchAsk, f func(searchReply)) error {
	asks := make(map[int]searchAsk)
	for partition, node := range i.where.Node {
		of := ask
		of.Partitions = append(asks[node].Partitions, partition)
		asks[node] = of
	}
	replies, err := i.askEach(ctx, asks)
	if err != nil {
		return err
	}
	for _, r := range replies {
		if r.away == nil {
			f(r.searchReply)
		}
	}
	return nil
}

// fragments asks those nodes for texts that have found the hits.
func (i indexesOfParts) fragments(ctx context.Context, hits []fulltext.Hit, marks fulltext.Marks) ([]hitText, error) {
	asks, places := make(map[int]searchAsk), make(map[int][]int)
	for n, hit := range hits {
		node := i.where.Node[hit.Partition]
		ask := asks[node]
		ask.Hits, ask.Marks, ask.Text = append(ask.Hits, hit), marks, i.o.query.Text
		asks[node], places[node] = ask, append(places[node], n)
	}
	replies, err := i.askEach(ctx, asks)
	if err != nil {
		return nil, err
	}
	all := make([]hitText, len(hits))
	for node, r := range replies {
		for at, n := range places[node] {
			if r.away != nil {
				all[n].Unread = r.away.Error()
			} else {
				all[n] = r.Texts[at]
			}
		}
	}
	return all, nil
}

// nodeReply is what a node says, or why it cannot be asked.
type nodeReply struct {
	searchReply
	away *unreachable
}

// askEach asks nodes at the same time.
func (i indexesOfParts) askEach(ctx context.Context, asks map[int]searchAsk) (map[int]nodeReply, error) {
	nodes := slices.Collect(maps.Keys(asks))
	replies, err := eachAtOnce(len(nodes), nodes, func(node int) (r nodeReply, err error) {
		ask := asks[node]
		ask.Secret = i.o.secret
		r.searchReply, err = i.ask(ctx, node, ask)
		if errors.As(err, &r.away) {
			err = nil
		}
		return r, err
	})
	all := make(map[int]nodeReply, len(nodes))
	for n, node := range nodes {
		all[node] = replies[n]
	}
	return all, err
}

// ask asks a node: this process, if it is that; else at its socket or over TLS; else its directories, where these are
// on this machine and none has them open. That is for a command to do, and not for a node that runs.
func (i indexesOfParts) ask(ctx context.Context, node int, ask searchAsk) (searchReply, error) {
	if i.running != nil && node == i.cluster.Node {
		return ask.answer(ctx, i.running.dir)
	}
	client, err := i.nodes.client(i.parts, node)
	if err != nil {
		return searchReply{}, i.cannotAsk(node, err)
	}
	reply, err := client.ask(ctx, ask)
	switch {
	case err == nil || ctx.Err() != nil || errors.As(err, new(*cli.Error)):
		return reply, err
	case !client.isHere || !errors.As(err, new(*notThere)):
		return reply, i.cannotAsk(node, err)
	case i.running != nil:
		return reply, &cli.Error{Status: remote.NotHere}
	}
	return ask.answer(ctx, func(partition int) (*storage.Dir, error) { return i.rest.open[partition]() })
}
