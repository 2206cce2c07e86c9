package control

import (
	"fmt"
	"regexp"
	"strings"
)

// Statements are written once, for SQLite. PostgreSQL gets them through postgresText.

// differences are the parts of statements that are other ones under PostgreSQL.
var differences = strings.NewReplacer(
	"WHERE n IN (SELECT value FROM json_each(?))", "WHERE n IN (SELECT json_array_elements_text(?::text::json)::bigint)",
	"(SELECT value FROM json_each(?))", "(SELECT json_array_elements_text(?::text::json))",
	"(SELECT json_group_array(key) FROM", "(SELECT coalesce(json_agg(key), '[]') FROM",
	"FROM json_each(?) AS wanted", "FROM json_array_elements_text(?::text::json) AS wanted (value)",
	"FROM json_each(?) AS pair", "FROM json_array_elements(?::text::json) AS pair (value)",
	"JOIN shown ON seq IN (SELECT seq", "CROSS JOIN LATERAL (SELECT seq, document, likeness", // what would read all of it
	"ORDER BY seq DESC LIMIT ?)", "ORDER BY seq DESC LIMIT ?) AS shown",
	" INDEXED BY urd_owner", "",
	"FROM sqlite_sequence WHERE name = 'aci'", "FROM (SELECT value AS seq FROM counter WHERE name = 'aci') AS sequence",
	"UPDATE sqlite_sequence SET seq = ?", "UPDATE counter SET value = ?",
)

var (
	// tableName finds the names of tables, which no connection has a search path for: what pools connections in
	// between keeps no settings of them.
	tableName = regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE|TABLE|ON) (counter|mark|` + strings.Join(contents, "|") + `)\b`)
	parameter = regexp.MustCompile(`\?\d*`)
)

// postgresText returns the text of a statement as PostgreSQL takes it.
func postgresText(query string) string {
	query = tableName.ReplaceAllString(differences.Replace(query), "$1 "+schemaName+".$2")
	n := 0
	return parameter.ReplaceAllStringFunc(query, func(p string) string {
		if p != "?" {
			return "$" + p[1:]
		}
		n++
		return fmt.Sprintf("$%d", n)
	})
}
