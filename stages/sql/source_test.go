package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// TestWrongSources are refused, at the option that is wrong.
func TestWrongSources(t *testing.T) {
	t.Parallel()
	sound := Source{Driver: "postgres", Address: "postgres://db.example.org/shop", Secret: "shop", Query: "SELECT id, at FROM a WHERE r = $r AND at > $mark", Key: []string{"id"},
		Mark: "at", Overlap: "5m", Parameters: map[string]string{"r": "text"}}
	if err := sound.validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Source){
		`driver: "oracle" is none of mariadb, postgres, sqlite`:               func(s *Source) { s.Driver = "oracle" },
		"address: it is missing: postgres://USER@HOST/DATABASE":               func(s *Source) { s.Address = "" },
		"address: it holds a password":                                        func(s *Source) { s.Address = "postgres://a:hunter2@db.example.org/shop" },
		"address: it holds a password,":                                       func(s *Source) { s.Address = "postgres://db.example.org/shop?password=hunter2" },
		"address: it holds a password, which":                                 func(s *Source) { s.Driver, s.Address = "mariadb", "mariadb://a:hunter2@db.example.org/shop" },
		"address: it does not begin with postgres://":                         func(s *Source) { s.Address = "host=db.example.org password=hunter2" },
		"address: it names several servers":                                   func(s *Source) { s.Address = "postgres://a.example,b.example/shop" },
		"address: it does not begin with mariadb://":                          func(s *Source) { s.Driver = "mariadb" },
		"address: it names no database":                                       func(s *Source) { s.Driver, s.Address = "mariadb", "mariadb://db.example.org" },
		`"allowAllFiles" is none of what can stand in it`:                     func(s *Source) { s.Driver, s.Address = "mariadb", "mariadb://a/b?allowAllFiles=true" },
		"tls=no is none of true":                                              func(s *Source) { s.Driver, s.Address = "mariadb", "mariadb://a/b?tls=no" },
		"address: it is the path of a file":                                   func(s *Source) { s.Driver, s.Address = "sqlite", "file:shop.db?mode=rwc" },
		"secret: a file has no account":                                       func(s *Source) { s.Driver, s.Address = "sqlite", "shop.db" },
		"query: line 1, column 1 of the query: it is empty":                   func(s *Source) { s.Query = "" },
		"key: it is missing":                                                  func(s *Source) { s.Key = nil },
		"parameters: r is of type \"string\", which is none of text, integer": func(s *Source) { s.Parameters = map[string]string{"r": "string"} },
		"parameters: \"mark\" is no name of a parameter":                      func(s *Source) { s.Parameters["mark"] = "text" },
		"parameters: the query has no $other":                                 func(s *Source) { s.Parameters["other"] = "text" },
		"query: line 1, column 32 of the query: $r is not declared":           func(s *Source) { s.Parameters = nil },
		"query: it reads from no mark on: at > $mark in its WHERE does so":    func(s *Source) { s.Query = "SELECT id, at FROM a WHERE r = $r" },
		"mark: the query has $mark, and no column is named by which":          func(s *Source) { s.Mark = "" },
		"overlap: it is that of a mark, and there is none":                    func(s *Source) { s.Mark, s.Query = "", "SELECT id FROM a WHERE r = $r" },
		`overlap: it is a duration, as "5m", or a number`:                     func(s *Source) { s.Overlap = "long" },
		"overlap: -5 is negative":                                             func(s *Source) { s.Overlap = "-5" },
	} {
		s := sound
		s.Parameters = map[string]string{"r": "text"}
		change(&s)
		o := defaults
		o.Sources = map[string]Source{"orders": s}
		err := o.Validate()
		option, is := errors.AsType[*pipeline.OptionError](err)
		if !is || !strings.HasPrefix(option.Option, "sources.orders.") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %s: %v", want, err)
		}
	}
	for want, change := range map[string]func(*Options){
		`"Orders" is no name of a source`:   func(o *Options) { o.Sources = map[string]Source{"Orders": sound} },
		"max_rows: must be more than 0":     func(o *Options) { o.MaxRows = 0 },
		"max_size: 1000000001 is more than": func(o *Options) { o.MaxSize = 1e9 + 1 },
		"timeout: must be more than 0":      func(o *Options) { o.Timeout = 0 },
	} {
		o := defaults
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}

// TestWhereAServerIs: hosts as the bounds of secrets name them, and whether a password may be sent there.
func TestWhereAServerIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ driver, address, want string }{
		{"postgres", "postgres://db.example.org/shop", "db.example.org true"},
		{"postgres", "postgresql://db.example.org:5433/shop?sslmode=verify-full", "db.example.org:5433 true"},
		{"postgres", "postgres://db.example.org/shop?sslmode=verify-ca", "db.example.org false"},
		{"postgres", "postgres://db.example.org/shop?sslmode=require", "db.example.org false"},
		{"postgres", "postgres://db.example.org/shop?sslmode=prefer", "db.example.org false"},
		{"postgres", "postgres://db.example.org/shop?sslmode=disable", "db.example.org false"},
		{"postgres", "postgres://[::1]:5433/shop", "[::1]:5433 true"},
		{"postgres", "postgres:///shop?host=/var/run/postgresql", "localhost true"},
		{"mariadb", "mariadb://db.example.org/shop", "db.example.org true"},
		{"mariadb", "mariadb://db.example.org:3307/shop?tls=true", "db.example.org:3307 true"},
		{"mariadb", "mariadb://db.example.org/shop?tls=skip-verify", "db.example.org false"},
		{"mariadb", "mariadb://db.example.org/shop?tls=preferred", "db.example.org false"},
		{"mariadb", "mariadb:///shop?socket=/run/mysqld/mysqld.sock", "localhost true"},
		{"sqlite", "shop.db", "localhost true"},
	} {
		l, err := engines[c.driver].locate(c.address)
		if err != nil || fmt.Sprint(l.host, " ", l.secure) != c.want {
			t.Errorf("%s: %+v, %v, want %s", c.address, l, err, c.want)
		}
	}
}

// TestStartsAreRefused that would come to nothing; those of other protocols are not looked at.
func TestStartsAreRefused(t *testing.T) {
	t.Parallel()
	o := defaults
	u := xmlschema.NewURD("ann", "db://orders")
	if err := o.RefusesStart(u); err != nil {
		t.Errorf("of the web: %v", err)
	}
	u.Protocol = xmlschema.ProtocolDB
	if err := o.RefusesStart(u); err == nil || !strings.Contains(err.Error(), "no query is declared") {
		t.Errorf("%v", err)
	}
	o.Sources = map[string]Source{"orders": {Driver: "sqlite", Address: "a", Query: "SELECT $b AS id, $n", Key: []string{"id"}, Parameters: map[string]string{"b": "boolean", "n": "number"}}}
	for address, want := range map[string]string{
		"db://orders?b=true&n=1.5": "", "db://orders?b=false&n=-3": "", "db://orders?b=1&n=1": "parameter b", "db://orders?b=true&n=0x1": "parameter n",
		"db://orders?b=true&n=NaN": "parameter n", "db://orders?b=true&n=": "parameter n", "db://orders?b=true": "has the parameter n (number)", "db://orders?b=true&n=1&c=2": "has no parameter c",
		"db://other?b=true&n=1": "no query is called other: orders is declared",
	} {
		u.URI = address
		if err := o.RefusesStart(u); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestCheckTriesAllSources, and tells of each what is wrong.
func TestCheckTriesAllSources(t *testing.T) {
	t.Parallel()
	f := newFile(t, orders)
	o := defaults
	check := func() string {
		made, err := newStage(o, pipeline.NewEnv("p", "sql", new(pipeline.Resources)))
		if err != nil {
			t.Fatal(err)
		}
		s := made.(*stage)
		defer s.Close()
		return fmt.Sprint(s.Check(context.Background()))
	}
	if got := check(); !strings.Contains(got, "no query is declared") {
		t.Error(got)
	}
	gone := f.source("SELECT 1 AS id", "id")
	gone.Address += ".gone"
	marked := f.source("SELECT id FROM orders WHERE id > $mark", "id")
	marked.Mark = "region"
	fine := f.source("SELECT id FROM orders WHERE region = $region", "id")
	fine.Parameters = map[string]string{"region": "text"}
	o.Sources = map[string]Source{"fine": fine, "wrong": f.source("SELECT id\n FRM orders", "id"), "gone": gone, "marked": marked}
	want := []string{"sources.gone: ", "no such file", "sources.marked: the answer to query marked has no column \"region\"", `sources.wrong: line 2, column 6 of the query: SQL logic error: near "orders"`}
	if got := check(); strings.Contains(got, "fine") || strings.Contains(got, "no query") {
		t.Error(got)
	} else {
		for _, one := range want {
			if !strings.Contains(got, one) {
				t.Errorf("%s\nwant %s", got, one)
			}
		}
	}
}
