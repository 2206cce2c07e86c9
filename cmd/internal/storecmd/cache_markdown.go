package storecmd

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/storage/objects"
)

// writeMarkdown writes a stored version as Markdown, as webrace-run read does of one that it fetches.
func writeMarkdown(c *cobra.Command, out io.Writer, flags *cli.ReadingFlags, v objects.Version, header http.Header, body []byte) error {
	r, err := extract.TextContext(c.Context(), body, header, v.MediaType, v.URL)
	if err != nil {
		return err
	}
	d := &webrace.Document{URL: v.URL, Body: body, Header: header, MediaType: r.MediaType, Charset: r.Charset, Language: r.Language, Title: r.Title, Text: r.Text}
	shown, err := flags.Read(c.Context(), d, reading.Stored{Version: v.Number, Fetched: v.FetchedAt, Digest: v.Digest})
	if err != nil {
		return err
	}
	for _, remark := range flags.Remarks(shown) {
		fmt.Fprintf(cli.Prose(c.ErrOrStderr()), "%s: %s\n", shown.URL, remark)
	}
	return flags.Write(out, shown)
}
