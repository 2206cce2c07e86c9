package storecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/frontier"
)

// partAnswer is what a partition knows of a URL.
type partAnswer struct {
	answer
	Gated bool
}

// whyParts asks the partition of a URL, and those that know more: where its redirects lead on, and, of a URL that no
// crawl came to, which crawl would take it.
func whyParts(p *parts, url string, asJSON bool) error {
	all, said, err := p.why(p.homeOf(url), url)
	fmt.Fprint(cli.Exact(p.c.ErrOrStderr()), said)
	if err != nil {
		return errors.Join(err, p.lacking())
	}
	for i := range all {
		a := &all[i]
		if len(a.Redirects) > 0 {
			err = p.follow(a)
		} else if a.State == string(frontier.Unseen) && a.Refused != "" && !a.Gated {
			err = p.wouldTake(a)
		}
		if err != nil && !errors.As(err, new(*unreachable)) {
			return err
		}
		a.gated = a.Gated
		if err := a.show(p.c, asJSON); err != nil {
			return err
		}
	}
	return p.lacking()
}

func (p *parts) homeOf(url string) int {
	return cluster.PartitionOf(urlnorm.Host(url), p.where.Partitions)
}

// why asks a partition about a URL. What it said is for the user.
func (p *parts) why(partition int, url string) (all []partAnswer, said string, err error) {
	text, err := json.Marshal(url)
	if err != nil {
		return nil, "", err
	}
	var out, complaints bytes.Buffer
	call := remote.Call{In: strings.NewReader(""), Out: &out, Err: &complaints}
	call.Args, call.Part = p.globals.Args, &remote.Part{Partition: partition, Ask: text, Rows: true}
	status, err := p.run(p.c.Context(), call)
	if err == nil && status != cli.OK {
		err = &cli.Error{Status: status}
	}
	for decoder := json.NewDecoder(&out); err == nil; {
		var a partAnswer
		if err = decoder.Decode(&a); err == nil {
			all = append(all, a)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return all, complaints.String(), err
}

// follow adds where redirects lead on in other partitions, until one is in a circle.
func (p *parts) follow(a *partAnswer) error {
	for len(a.Redirects) < longestChain {
		last := a.Redirects[len(a.Redirects)-1]
		if last == a.URL || slices.Index(a.Redirects, last) < len(a.Redirects)-1 {
			return nil
		}
		there, _, err := p.why(p.homeOf(last), last)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(there, func(n partAnswer) bool { return n.Pipeline == a.Pipeline && n.Secret == a.Secret })
		if i < 0 || len(there[i].Redirects) == 0 {
			return nil
		}
		for _, next := range there[i].Redirects {
			if a.Redirects = append(a.Redirects, next); next == a.URL || slices.Index(a.Redirects, next) < len(a.Redirects)-1 {
				return nil
			}
		}
	}
	return nil
}

// wouldTake finds a partition with a crawl that would accept the URL, or that says why not: the one of a host to which
// no crawl came knows none.
func (p *parts) wouldTake(a *partAnswer) error {
	var away error
	for partition := range p.where.Partitions {
		there, _, err := p.why(partition, a.URL)
		if err != nil {
			away = errors.Join(away, err)
			continue
		}
		for _, n := range there {
			if n.Pipeline == a.Pipeline && n.Secret == a.Secret && (n.Refused == "" || a.Refused == frontier.Unknown.String()) {
				*a = n
			}
		}
		if a.Refused == "" {
			break
		}
	}
	return away
}
