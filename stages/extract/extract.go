// Package extract is the stage that makes records of pages and of JSON: selectors of CSS and XPath, and programs of
// jq, determine what goes into which field, as text, number or URL, one or all; a page gives one record, or one for
// each of its rows.
package extract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// Options of the stage.
type Options struct {
	Fields   map[string]string `toml:"fields" doc:"what goes into each field: css:, xpath: or jq: and a selector, @attribute, and | number, | url, | all; or article: and title, author, site, language, published, image, part or markdown"`
	Rows     string            `toml:"rows" doc:"a selector: each element that it chooses gives a record of its own, of what is in it; empty: the page gives one"`
	Required []string          `toml:"required" doc:"fields without which there is no record"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "extract",
		Summary: "makes records of pages and of JSON, by selectors of CSS and XPath and programs of jq",
		Doc: "`fields = { price = \"css:.price | number\", more = \"css:a.more@href | url | all\" }` takes a number out of the first element of the " +
			"class, and all addresses that links lead to, relative to what the page declares to be its base. Of JSON, `price = \"jq:.price\"` takes the value as it is (a number with all its digits); `rows = \"jq:.items[]\"` gives a record for each. `text = \"article:markdown\"` takes the main part of a page as Markdown, or all of it if it has none, and of a document of another type its text. A field for which there is nothing is null, or an empty list. Every record " +
			"has the page's `url`. A page without a body (because it has not changed) gives none, as `without_body` counts; " +
			"`incomplete` counts records without what is required. JSON that is broken goes to the port `errors`, or by `on_error` to the dead letters, with line and column, and is counted " +
			"by `broken`: the values before the break give records all the same. `invalid_text` counts documents of JSON with bytes that are not UTF-8, or halves of " +
			"surrogate pairs, in whose place a record has U+FFFD.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs:   []pipeline.Part{webrace.PartBody},
		Uses:    []pipeline.Part{webrace.PartText},
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record](), Doc: "a record"}},
		Workers: 2,
	}, Options{}, newStage)
}

const urlField = "url"

// Validate refuses selectors that are none, and required fields that are not taken.
func (o Options) Validate() error {
	if len(o.Fields) == 0 {
		return &pipeline.OptionError{Option: "fields", Err: errors.New(`is not set: say what to take, as in fields = { title = "css:h1" }`)}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		if _, err := parseField(name, o.Fields[name]); err != nil {
			return &pipeline.OptionError{Option: "fields", Err: fmt.Errorf("%s: %w", name, err)}
		}
		if o.Rows != "" && isJQ(o.Rows) != isJQ(o.Fields[name]) {
			return &pipeline.OptionError{Option: "fields", Err: fmt.Errorf("%s: nothing of the kind is in the rows: a document has either elements, for css and xpath, or values, for jq", name)}
		}
	}
	if o.Rows != "" {
		if _, err := parseSelector(o.Rows); err != nil {
			return &pipeline.OptionError{Option: "rows", Err: err}
		}
	}
	for _, name := range o.Required {
		if o.Fields[name] == "" {
			return &pipeline.OptionError{Option: "required", Err: fmt.Errorf("there is no field %q", name)}
		}
	}
	return nil
}

func isJQ(selector string) bool { return strings.HasPrefix(strings.TrimSpace(selector), "jq:") }

// Ports returns the port of records, with the fields that these have.
func (o Options) Ports() []pipeline.Port {
	fields := slices.AppendSeq([]string{urlField}, maps.Keys(o.Fields))
	return []pipeline.Port{{Kind: pipeline.RecordOf(fields...), Doc: "a record"}}
}

type stage struct {
	env      *pipeline.Env
	fields   []field
	rows     *selection.Finder // nil: the page is the row
	required []string
}

var (
	_ pipeline.Processor     = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}
)

func newStage(o Options, env *pipeline.Env) (s any, err error) {
	made := &stage{env: env, required: o.Required}
	if made.fields, err = parseFields(o.Fields); err != nil {
		return nil, err
	}
	if o.Rows == "" {
		return made, nil
	}
	made.rows, err = parseSelector(o.Rows)
	return made, err
}

func parseFields(given map[string]string) (fields []field, err error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, err := parseField(name, given[name])
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// Fields returns the record that the stage with these fields, valid ones, makes of one page. It is for commands.
func Fields(ctx context.Context, d *webrace.Document, fields map[string]string) (pipeline.Record, error) {
	parsed, err := parseFields(fields)
	if err != nil {
		return nil, err
	}
	search, err := selection.NewSearch(ctx, selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text))
	if err != nil {
		return nil, err
	}
	if n, broken := search.Values(); broken != nil && n == 0 {
		return nil, fmt.Errorf("it is no JSON: %w", broken)
	}
	article, err := readArticle(ctx, d, parsed)
	if err != nil {
		return nil, err
	}
	return recordOf(parsed, d, search, selection.Found{}, article)
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if len(d.Body) == 0 {
		s.env.Counter("without_body").Add(1)
		return nil
	}
	search, err := selection.NewSearch(ctx, selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text))
	if err != nil {
		return err
	}
	if n, broken := search.Values(); broken != nil {
		s.env.Counter("broken").Add(1)
		err := pipeline.Reject(ctx, out, it, fmt.Errorf("%s: it is no JSON: %w", d.URL, broken))
		if err != nil || n == 0 {
			return err
		}
	}
	if isInvalid(d) {
		s.env.Counter("invalid_text").Add(1)
	}
	article, err := readArticle(ctx, d, s.fields)
	if err != nil {
		return err
	}
	rows := []selection.Found{{}}
	if s.rows != nil {
		if rows, err = search.Find(s.rows, selection.Found{}); err != nil {
			return fmt.Errorf("find rows: %w", err)
		}
	}
	for _, row := range rows {
		record, err := recordOf(s.fields, d, search, row, article)
		if err != nil {
			return err
		}
		if !s.complete(record) {
			s.env.Counter("incomplete").Add(1)
			continue
		}
		if err := out.Emit(ctx, it.With(record)); err != nil {
			return err
		}
	}
	return nil
}

// isInvalid reports whether a document of JSON has bytes that are not UTF-8, or halves of surrogate pairs, for which
// its values have U+FFFD.
func isInvalid(d *webrace.Document) bool {
	if !formats.IsJSON(d.MediaType) {
		return false
	}
	text := d.Body
	if d.Charset != "" && !strings.EqualFold(d.Charset, "utf-8") {
		var err error
		if text, _, err = charsets.ToUTF8(d.Body, d.MediaType+"; charset="+d.Charset); err != nil {
			return false
		}
	}
	return recordjson.IsInvalidText(text)
}

func recordOf(fields []field, d *webrace.Document, search *selection.Search, row selection.Found, article *reading.Page) (pipeline.Record, error) {
	record := pipeline.Record{urlField: d.URL}
	for _, f := range fields {
		if f.article != "" {
			record[f.name] = f.ofArticle(article)
			continue
		}
		value, err := f.value(d, search, row)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
		record[f.name] = value
	}
	return record, nil
}

func (s *stage) complete(record pipeline.Record) bool {
	for _, name := range s.required {
		switch v := record[name].(type) {
		case nil:
			return false
		case string:
			if v == "" {
				return false
			}
		case []any:
			if len(v) == 0 {
				return false
			}
		}
	}
	return true
}
