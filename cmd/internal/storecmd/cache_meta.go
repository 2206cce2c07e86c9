package storecmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// metaJSON is the meta-information of a version as JSON, with the names that it has as XML.
type metaJSON struct {
	URL          string        `json:"url"`
	Version      int           `json:"version"`
	IP           string        `json:"ip,omitempty"`
	Status       int           `json:"status,omitempty"`
	Size         int           `json:"size"`
	ETag         string        `json:"etag,omitempty"`
	LastModified string        `json:"lastmodified,omitempty"`
	Fetched      string        `json:"fetched,omitempty"`
	Header       []headerField `json:"header"`
	Links        []string      `json:"link"`
}

type headerField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func jsonOfMeta(version int, m *xmlschema.Meta) metaJSON {
	v := metaJSON{
		URL: m.URL, Version: version, IP: m.IP, Status: m.Status, Size: m.Size, ETag: m.ETag, LastModified: m.LastModified,
		Fetched: wording.Moment(m.Fetched), Header: []headerField{}, Links: append([]string{}, m.Links...),
	}
	for _, f := range m.Header {
		v.Header = append(v.Header, headerField(f))
	}
	return v
}

func newCacheMeta(globals *cli.Globals) *cobra.Command {
	var secret string
	var version int
	var asJSON bool
	c := &cobra.Command{
		Use:   "meta URL",
		Short: "write the meta-information of a URL's latest version, or another, as XML: origin, size, validators, header, links",
		Example: `  webrace-store cache meta https://example.org/
  webrace-store cache meta https://example.org/ --version 3 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if asked, err := atHomeOf(c, globals, url); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				v, err := versionOf(store, objects.View(secret, store.Spelling(secret, url)), version)
				if err != nil {
					return err
				}
				meta, err := store.Meta(v)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.NewEncoder(c.OutOrStdout()).Encode(jsonOfMeta(v.Number, &meta))
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", meta.Canonical())
				return err
			})
		},
	}
	withVersion(c, &version)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	withSecret(c, &secret)
	return c
}
