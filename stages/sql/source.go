package sql

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Source is a query that the operator declares, under the name that addresses have.
type Source struct {
	Driver     string            `toml:"driver" doc:"what database it is" enum:"postgres,mariadb,sqlite"`
	Address    string            `toml:"address" doc:"where it is, without a password: postgres://USER@HOST/DATABASE, mariadb://USER@HOST/DATABASE, or the file of SQLite"`
	Secret     string            `toml:"secret" doc:"the secret, of kind basic, of the account by which it is read; the URD has to name it, too"`
	Query      string            `toml:"query" doc:"one statement that reads; $NAME stands for the value of a parameter, and $mark for the mark from which rows are new"`
	Key        []string          `toml:"key" doc:"the columns by which a row is known"`
	Title      string            `toml:"title" doc:"the column that is the title of a row that is a document of its own; its key, if none is named"`
	Mark       string            `toml:"mark" doc:"a column, a time or number, that grows with each change of a row: rows are read from the last one on, and each is a document of its own. Without it all rows are read each time, and are the entries of one document"`
	Overlap    string            `toml:"overlap" doc:"how far before the last mark rows are read again, since a transaction may end later than one that began after it: a duration, or a number where the mark is one; 5m, or 1000"`
	Parameters map[string]string `toml:"parameters" doc:"the parameters that an address has to fill in, each with its type: text, integer, number, boolean, date"`
}

// parameterMark is the parameter that has the mark as its value.
const parameterMark = "mark"

var (
	names      = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	parameters = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	types      = []string{"text", "integer", "number", "boolean", "date"}
)

// validate refuses a source that could never be read.
func (s Source) validate() error {
	wrong := func(option, format string, args ...any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
	}
	e, ok := engines[s.Driver]
	if !ok {
		return wrong("driver", "%q is none of %s", s.Driver, strings.Join(slices.Sorted(maps.Keys(engines)), ", "))
	}
	if s.Address == "" {
		return wrong("address", "it is missing: %s", e.example)
	}
	if _, err := e.locate(s.Address); err != nil {
		return wrong("address", "%w", err)
	}
	if s.Secret != "" && s.Driver == "sqlite" {
		return wrong("secret", "a file has no account: leave it out")
	}
	q, err := e.lexis.parse(s.Query)
	if err != nil {
		return wrong("query", "%w", err)
	}
	if len(s.Key) == 0 {
		return wrong("key", `it is missing: the columns by which a row is known, as in key = ["id"]`)
	}
	for name, typ := range s.Parameters {
		switch {
		case !parameters.MatchString(name) || name == parameterMark:
			return wrong("parameters", "%q is no name of a parameter: letters, digits and underscores are, but mark, which is that of the mark", name)
		case !slices.Contains(types, typ):
			return wrong("parameters", "%s is of type %q, which is none of %s", name, typ, strings.Join(types, ", "))
		case !slices.Contains(q.names, name):
			return wrong("parameters", "the query has no $%s", name)
		}
	}
	for _, p := range q.parts {
		if _, declared := s.Parameters[p.name]; p.name != "" && p.name != parameterMark && !declared {
			at := &queryError{q.text, p.at + len(p.text), fmt.Sprintf("$%s is not declared: parameters = { %[1]s = \"text\" } does so", p.name)}
			return wrong("query", "%w", at)
		}
	}
	switch marked := slices.Contains(q.names, parameterMark); {
	case s.Mark != "" && !marked:
		return wrong("query", "it reads from no mark on: %s > $mark in its WHERE does so", s.Mark)
	case s.Mark == "" && marked:
		return wrong("mark", "the query has $mark, and no column is named by which rows are marked")
	case s.Mark == "" && s.Overlap != "":
		return wrong("overlap", "it is that of a mark, and there is none")
	}
	if _, err := parseOverlap(s.Overlap); err != nil {
		return wrong("overlap", "%w", err)
	}
	return nil
}

// request is what the address of a source asks for.
type request struct {
	name   string
	source Source
	query  *query
	engine *engine
	values map[string]any // of the parameters
}

// resolve finds what an address asks for, with a secret. The error tells whoever wrote the address what to write.
func (o Options) resolve(address, secret string) (*request, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != xmlschema.ProtocolDB {
		return nil, fmt.Errorf("%.200q is no address of a query, which is db://NAME?parameter=value", address)
	}
	s, ok := o.Sources[u.Host]
	if !ok {
		return nil, o.unknown(u.Host)
	}
	r := &request{name: u.Host, source: s, engine: engines[s.Driver], values: make(map[string]any)}
	if r.query, err = r.engine.lexis.parse(s.Query); err != nil {
		return nil, err
	}
	switch {
	case s.Secret != "" && secret == "":
		return nil, fmt.Errorf("query %s is read with the secret %s, and the URD names none: write secret=%q", r.name, s.Secret, s.Secret)
	case s.Secret != secret && s.Secret != "":
		return nil, fmt.Errorf("query %s is read with the secret %s, and the URD names %s: write secret=%q", r.name, s.Secret, secret, s.Secret)
	case s.Secret != secret:
		return nil, fmt.Errorf("query %s is read without a secret, and the URD names %s: leave it out", r.name, secret)
	}
	return r, r.fill(u.Query())
}

// unknown tells that no source has a name.
func (o Options) unknown(name string) error {
	if len(o.Sources) == 0 {
		return fmt.Errorf("no query is declared, so that there is no %.60s: the configuration declares one as sources.%.60[1]s of the stage sql (docs/databases.md)", name)
	}
	known := slices.Sorted(maps.Keys(o.Sources))
	return fmt.Errorf("no query is called %.60s%s: %s declared", name, suggest.DidYouMean(suggest.Nearest(name, known)), declaredOf(known))
}

func declaredOf(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return suggest.And(names) + " are"
}

// fill sets the values of the parameters: of all of them, and no others.
func (r *request) fill(given url.Values) error {
	declared := slices.Sorted(maps.Keys(r.source.Parameters))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := r.source.Parameters[name]; !ok {
			has := "has none"
			if len(declared) > 0 {
				has = "has " + strings.Join(declared, ", ")
			}
			return fmt.Errorf("query %s has no parameter %.60s%s: it %s", r.name, name, suggest.DidYouMean(suggest.Nearest(name, declared)), has)
		}
	}
	for _, name := range declared {
		typ := r.source.Parameters[name]
		if !given.Has(name) {
			return fmt.Errorf("query %s has the parameter %s (%s), and no value is given: write db://%s?%s=…", r.name, name, typ, r.name, name)
		}
		value, ok := parseParameter(typ, given.Get(name))
		if !ok {
			return fmt.Errorf("parameter %s of query %s is of type %s, and %.60q is none: %s is one", name, r.name, typ, given.Get(name), examples[typ])
		}
		r.values[name] = value
	}
	return nil
}

var examples = map[string]string{"integer": "42", "number": "1.5", "boolean": "true", "date": "2026-01-31"}

// parseParameter reads a value.
func parseParameter(typ, text string) (value any, ok bool) {
	switch typ {
	case "text":
		return text, !strings.ContainsRune(text, 0)
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case "number":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && isNumber(text)
	case "boolean":
		return text == "true", text == "true" || text == "false"
	}
	_, err := time.Parse(layoutDate, text)
	return text, err == nil
}

// RefusesStart returns why a stage with these options would not visit a source that a URD names, so that it is told
// where the URD is written; nil if it would, or if the source is none of databases.
func (o Options) RefusesStart(u *xmlschema.URD) error {
	if u.Protocol != xmlschema.ProtocolDB {
		return nil
	}
	start, err := u.Start()
	if err != nil {
		return err
	}
	_, err = o.resolve(start, u.Secret)
	return err
}

// overlap is how far before a mark rows are read again.
type overlap struct {
	time   time.Duration
	number int64
	isTime bool
	set    bool
}

// What an overlap is where none is said.
const (
	overlapTime   = 5 * time.Minute
	overlapNumber = 1000
)

func parseOverlap(text string) (overlap, error) {
	if text == "" {
		return overlap{}, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 {
			return overlap{}, fmt.Errorf("%d is negative", n)
		}
		return overlap{number: n, set: true}, nil
	}
	var d pipeline.Duration
	if err := d.UnmarshalText([]byte(text)); err != nil {
		return overlap{}, errors.New(`it is a duration, as "5m", or a number, as "1000", where the mark is one`)
	}
	return overlap{time: time.Duration(d), isTime: true, set: true}, nil
}
