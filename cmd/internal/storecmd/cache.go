package storecmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage/objects"
)

func newCache(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "cache", Short: "what was fetched: ls, cat, meta, versions, diff, screenshot, export, import, stats"}
	c.AddCommand(newCacheLs(globals), newCacheCat(globals), newCacheMeta(globals), newCacheVersions(globals), newCacheDiff(globals), newCacheScreenshot(globals), newCacheExport(globals), newCacheImport(globals), newCacheStats(globals))
	return c
}

func newCacheLs(globals *cli.Globals) *cobra.Command {
	versions := listing[objects.Version]{
		header: []string{"url", "version", "status", "bytes", "digest"},
		row:    func(v objects.Version) []any { return []any{v.URL, v.Number, v.Status, v.Size, v.Digest} },
	}
	var secret string
	c := &cobra.Command{
		Use:     "ls [PREFIX]",
		Short:   "list the latest version of every URL that begins like this: URL, version, status, bytes, digest",
		Example: "  webrace-store cache ls https://example.org/news/\n  webrace-store cache ls --secret bank",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			if asked, err := versions.ofParts(c, globals, false, byURL, nil); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				return versions.list(c, false, store.Shown(c.Context(), secret, prefix), nothingListed(secret, prefix))
			})
		},
	}
	withSecret(c, &secret)
	return c
}

// byURL is the order in which versions are listed.
func byURL(a, b objects.Version) int { return strings.Compare(a.URL, b.URL) }

func nothingListed(secret, prefix string) string {
	switch {
	case prefix == "" && secret == "":
		return "nothing is stored yet"
	case prefix == "":
		return "nothing is stored that was fetched with the credentials " + secret
	}
	return fmt.Sprintf("nothing in the object cache begins with %q%s", prefix, asShown(secret))
}

func newCacheVersions(globals *cli.Globals) *cobra.Command {
	versions := listing[objects.Version]{
		header: []string{"version", "status", "bytes", "digest", "fetched", "validated"},
		row: func(v objects.Version) []any {
			return []any{v.Number, v.Status, v.Size, v.Digest, v.FetchedAt, v.ValidatedAt}
		},
	}
	var secret string
	c := &cobra.Command{
		Use:     "versions URL",
		Short:   "list the versions of a URL: version, status, bytes, digest, fetched, last validated",
		Example: "  webrace-store cache versions https://example.org/",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if asked, err := atHomeOf(c, globals, url); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				all, err := store.Versions(objects.View(secret, store.Spelling(secret, url)))
				if err != nil {
					return missing(err)
				}
				_, err = versions.print(c, false, cli.Each(all))
				return err
			})
		},
	}
	withSecret(c, &secret)
	return c
}

// withSecret lets a command look at what was asked for with credentials.
func withSecret(c *cobra.Command, secret *string) {
	c.Flags().StringVar(secret, "secret", "", "what was asked for with the credentials of this `NAME`")
}

// withVersion lets a command look at another version of a document than the latest, which is 0.
func withVersion(c *cobra.Command, version *int) {
	c.Flags().IntVar(version, "version", 0, "of which version (default the latest)")
	c.PreRunE = func(*cobra.Command, []string) error {
		if *version < 0 {
			return cli.Wrongf("--version %d: versions are numbered from 1", *version)
		}
		return nil
	}
}

// missing adds to an error what to do about a URL that is not in the cache.
func missing(err error) error {
	return hinting(err, objects.ErrNotFound, "webrace-store why URL says why, cache ls PREFIX shows what there is")
}

// versionOf returns a version of a document, the latest for 0. One that is not there is told from a document that is
// not.
func versionOf(store *objects.Store, view string, version int) (objects.Version, error) {
	v, err := store.Get(view, version)
	if version > 0 && errors.Is(err, objects.ErrNotFound) {
		if _, none := store.Versions(view); none == nil {
			return v, hinting(err, objects.ErrNotFound, "webrace-store cache versions URL lists those that there are")
		}
	}
	return v, missing(err)
}

// catOptions are what of a document is wanted.
type catOptions struct {
	version           int
	text, header, raw bool
	secret            string
	markdown          bool
	reading           cli.ReadingFlags
}

func newCacheCat(globals *cli.Globals) *cobra.Command {
	var p catOptions
	c := &cobra.Command{
		Use:     "cat URL",
		Short:   "write the body of a URL's latest version as it was received, or another part of it",
		Example: "  webrace-store cache cat https://example.org/ --version 3 > page.html\n  webrace-store cache cat https://example.org/ --markdown",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if p.text && p.header || p.markdown && (p.text || p.header) {
				return cli.Wrongf("choose --text, --markdown or --header")
			}
			if err := p.prepare(c); err != nil {
				return err
			}
			if asked, err := atHomeOf(c, globals, url); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				version, err := versionOf(store, objects.View(p.secret, store.Spelling(p.secret, url)), p.version)
				if err != nil {
					return err
				}
				out := c.OutOrStdout()
				if p.raw {
					out = cli.Exact(out)
				}
				return p.write(c, out, store, version)
			})
		},
	}
	withVersion(c, &p.version)
	c.Flags().BoolVar(&p.text, "text", false, "what a reader sees of it, as plain text, instead of the body")
	c.Flags().BoolVar(&p.header, "header", false, "the status and the HTTP header instead of the body")
	c.Flags().BoolVar(&p.markdown, "markdown", false, "what it says as Markdown, of a page its main part")
	p.reading.Add(c.Flags())
	c.Flags().BoolVar(&p.raw, "raw", false, "let a terminal obey what is written; elsewhere it is written as it is anyway")
	withSecret(c, &p.secret)
	return c
}

// prepare checks the flags that are about Markdown.
func (p *catOptions) prepare(c *cobra.Command) error {
	for _, name := range []string{"all", "select", "max-words", "json"} {
		if c.Flags().Changed(name) && !p.markdown {
			return cli.Wrongf("--%s is about --markdown", name)
		}
	}
	return p.reading.Prepare()
}

func (p *catOptions) write(c *cobra.Command, w io.Writer, store *objects.Store, v objects.Version) error {
	body, header, err := store.Body(v)
	if err != nil {
		return err
	}
	switch {
	case p.header:
		return writeHeader(w, v.Status, header)
	case p.text:
		return writeText(w, v, header, body)
	case p.markdown:
		return writeMarkdown(c, w, &p.reading, v, header, body)
	}
	_, err = w.Write(body)
	return err
}

func writeHeader(w io.Writer, status int, header http.Header) error {
	fmt.Fprintf(w, "HTTP/1.1 %d %s\n", status, http.StatusText(status))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if _, err := fmt.Fprintf(w, "%s: %s\n", name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeText(w io.Writer, v objects.Version, header http.Header, body []byte) error {
	r, err := extract.Text(body, header, v.MediaType, v.URL)
	if err != nil {
		return err
	}
	for _, block := range r.Text.Blocks {
		if _, err := fmt.Fprintf(w, "%s\n", r.Text.Slice(block)); err != nil {
			return err
		}
	}
	return nil
}

func newCacheStats(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "stats",
		Short:   "count what the object cache holds",
		Example: "  webrace-store cache stats",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			show := func(s objects.Stats) error {
				return sharing(c, s, func() error {
					return WriteTable(c.OutOrStdout(), nil, [][]any{
						{"urls", s.URLs}, {"versions", s.Versions}, {"bodies", s.Payloads}, {"body bytes", s.PayloadBytes},
						{"segments", s.Segments}, {"segment bytes", s.SegmentBytes},
					})
				})
			}
			add := func(to *objects.Stats, s objects.Stats) {
				to.URLs, to.Versions = to.URLs+s.URLs, to.Versions+s.Versions
				to.Payloads, to.PayloadBytes = to.Payloads+s.Payloads, to.PayloadBytes+s.PayloadBytes
				to.Segments, to.SegmentBytes = to.Segments+s.Segments, to.SegmentBytes+s.SegmentBytes
			}
			if asked, err := sumOf(c, globals, add, show); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error { return show(store.Stats()) })
		},
	}
}
