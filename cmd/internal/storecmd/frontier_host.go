package storecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/frontier"
)

// newFrontierHost returns the commands that tell what becomes of a host's URLs.
func newFrontierHost(globals *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newFrontierPause(globals), newFrontierResume(globals), newFrontierDrop(globals)}
}

func newFrontierPause(globals *cli.Globals) *cobra.Command {
	return onHost(globals, "pause", "ask a host for nothing until it is resumed; its URLs wait", func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		before, err := pausedIn(store, names, host)
		if err != nil {
			return err
		}
		urls, err := change(c.Context(), store, names, host, store.Pause)
		if err != nil {
			return err
		}
		already := ""
		if before == len(names) {
			already = ", as it was"
		}
		note(c, "%s is paused in %s%s, and %s: webrace-store frontier resume %[1]s", host, suggest.And(names), already, urls.waiting())
		return urls.tell(c, store, names, host)
	})
}

func newFrontierResume(globals *cli.Globals) *cobra.Command {
	return onHost(globals, "resume", "ask a host again that was paused", func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		paused, err := pausedIn(store, names, host)
		if err != nil {
			return err
		}
		urls, err := change(c.Context(), store, names, host, store.Resume)
		if err != nil {
			return err
		}
		if paused > 0 {
			note(c, "%s is asked again in %s: %s", host, suggest.And(names), urls.waiting())
		} else {
			note(c, "%s was not paused: webrace-store frontier stats lists the hosts that are", host)
		}
		return urls.tell(c, store, names, host)
	})
}

func newFrontierDrop(globals *cli.Globals) *cobra.Command {
	short := "take a host's URLs off the queue, until a later round comes to them again"
	return onHost(globals, "drop", short, func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		urls, err := urlsOf(store, names, host)
		if err != nil {
			return err
		}
		total := 0
		for _, name := range names {
			n, err := store.Drop(c.Context(), name, host)
			if err != nil {
				return err
			}
			total += n
		}
		note(c, "dropped %s of %s in %s", wording.Count(total, "URL"), host, suggest.And(names))
		return urls.tell(c, store, names, host)
	})
}

func onHost(globals *cli.Globals, use, short string, do func(c *cobra.Command, store *frontier.Store, names []string, host string) error) *cobra.Command {
	return &cobra.Command{
		Use:     use + " HOST [PIPELINE]",
		Short:   short,
		Example: "  webrace-store frontier " + use + " www.example.org",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			host, err := hostName(args[0])
			if err != nil {
				return err
			}
			if asked, err := atHome(c, globals, host); asked {
				return err
			}
			return withFrontier(c, globals, withDir, args[1:], func(store *frontier.Store, names []string) error {
				return do(c, store, names, host)
			})
		},
	}
}

// pausedIn counts the pipelines in which a host is paused.
func pausedIn(store *frontier.Store, names []string, host string) (n int, err error) {
	for _, name := range names {
		paused, err := store.Paused(name)
		if err != nil {
			return 0, err
		}
		if slices.Contains(paused, host) {
			n++
		}
	}
	return n, nil
}

// hostURLs counts the URLs of a host: those that any of some pipelines has ever accepted, and those that wait.
type hostURLs struct{ known, queued int }

func urlsOf(store *frontier.Store, names []string, host string) (u hostURLs, err error) {
	for _, name := range names {
		known, queued, err := store.HostURLs(name, host)
		if err != nil {
			return u, err
		}
		u.known, u.queued = u.known+known, u.queued+queued
	}
	return u, nil
}

// change pauses or resumes a host in pipelines, and returns what they knew of it before.
func change(
	ctx context.Context, store *frontier.Store, names []string, host string, to func(ctx context.Context, pipeline, host string) error,
) (hostURLs, error) {
	urls, err := urlsOf(store, names, host)
	for _, name := range names {
		if err == nil {
			err = to(ctx, name, host)
		}
	}
	return urls, err
}

func (u hostURLs) waiting() string {
	if u.queued == 1 {
		return "1 URL of it waits"
	}
	return wording.Count(u.queued, "URL") + " of it wait"
}

// tell prints that no crawl has come to a host, and names one that was perhaps meant.
func (u hostURLs) tell(c *cobra.Command, store *frontier.Store, names []string, host string) error {
	if u.known > 0 {
		return nil
	}
	other, isShort := strings.CutPrefix(host, "www.")
	if !isShort {
		other = "www." + host
	}
	meant := ""
	if near, err := urlsOf(store, names, other); err != nil {
		return err
	} else if near.known > 0 {
		meant = fmt.Sprintf(" (did you mean %s?)", other)
	}
	note(c, "no crawl of %s has come to a URL of %s%s", suggest.And(names), host, meant)
	return nil
}

// hostName returns a host as the URLs that are stored name it.
func hostName(text string) (string, error) {
	url, err := urlnorm.Parse("http://" + text + "/")
	if name, ok := scope.Host(url); err == nil && ok && url == "http://"+name+"/" {
		return name, nil
	}
	return "", cli.Wrongf("%q is not the name of a host: write it as example.org, or example.org:8080", text)
}
