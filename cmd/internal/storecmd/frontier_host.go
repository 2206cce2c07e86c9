package storecmd

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/frontier"
)

// newFrontierHost returns the commands that say what becomes of a host's URLs.
func newFrontierHost(place *cli.Place) []*cobra.Command {
	return []*cobra.Command{newFrontierPause(place), newFrontierResume(place), newFrontierDrop(place)}
}

func newFrontierPause(place *cli.Place) *cobra.Command {
	return onHost(place, "pause", "ask a host for nothing until it is resumed; its URLs wait", func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		for _, name := range names {
			if err := store.Pause(c.Context(), name, host); err != nil {
				return err
			}
		}
		return nil
	})
}

func newFrontierResume(place *cli.Place) *cobra.Command {
	return onHost(place, "resume", "ask a host again that was paused", func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		resumed := false
		for _, name := range names {
			paused, err := store.Paused(name)
			if err != nil {
				return err
			}
			resumed = resumed || slices.Contains(paused, host)
			if err := store.Resume(c.Context(), name, host); err != nil {
				return err
			}
		}
		if !resumed {
			note(c, "%s was not paused: webrace-store frontier stats lists the hosts that are", host)
		}
		return nil
	})
}

func newFrontierDrop(place *cli.Place) *cobra.Command {
	short := "take a host's URLs off the queue, until a later round comes to them again"
	return onHost(place, "drop", short, func(c *cobra.Command, store *frontier.Store, names []string, host string) error {
		total := 0
		for _, name := range names {
			n, err := store.Drop(c.Context(), name, host)
			if err != nil {
				return err
			}
			total += n
		}
		note(c, "dropped %s", plural(total, "URL"))
		return nil
	})
}

func onHost(place *cli.Place, use, short string, do func(c *cobra.Command, store *frontier.Store, names []string, host string) error) *cobra.Command {
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
			return withFrontier(c, place, withDir, args[1:], func(store *frontier.Store, names []string) error {
				return do(c, store, names, host)
			})
		},
	}
}

// hostName returns a host as the URLs that are stored name it.
func hostName(text string) (string, error) {
	url, err := urlnorm.Parse("http://" + text + "/")
	if name, ok := scope.Host(url); err == nil && ok && url == "http://"+name+"/" {
		return name, nil
	}
	return "", cli.Wrongf("%q is not the name of a host: write it as example.org, or example.org:8080", text)
}
