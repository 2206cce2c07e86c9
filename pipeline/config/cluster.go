package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/finding"
)

// Cluster is what a configuration says of the cluster that this machine is a node of.
type Cluster struct {
	Database string // the URL of what all nodes share, and of the control store
	Node     int    // which of the nodes this is, from 0
	Secrets  string // the file of the key of secrets; empty: in the data directory
}

// clusterTable reads [cluster], which makes this machine a node of one.
func (l *loader) clusterTable(doc *document) {
	table := doc.root.get("cluster")
	if table == nil {
		return
	}
	l.cluster = new(Cluster)
	if table.kind != tableValue {
		l.reportAt("cluster", table.keyFinding(finding.CodeWrongType, fmt.Sprintf("cluster is a table, [cluster], not %s", table.kind)))
		return
	}
	keys := []string{"database", "node", "secrets"}
	for _, key := range table.keys {
		if !slices.Contains(keys, key) {
			f := table.table[key].keyFinding(finding.CodeUnknownKey, fmt.Sprintf("[cluster] has no %q, only %s", key, suggest.And(keys)))
			f.Hint = suggest.Nearest(key, keys)
			l.reportAt("cluster."+key, f)
		}
	}
	l.clusterDatabase(doc, table)
	l.clusterNode(table)
	if v := table.get("secrets"); v != nil {
		l.cluster.Secrets = l.clusterText(v, "secrets", "name the file of the key, or leave it out")
	}
}

// clusterDatabase reads where the database is, which has the control store as well.
func (l *loader) clusterDatabase(doc *document, table *value) {
	v := table.get("database")
	if v == nil {
		l.reportAt("cluster", table.keyFinding(finding.CodeBadValue, `[cluster] names no database, which all nodes share: database = "postgres://USER:PASSWORD@HOST:5432/DATABASE"`))
		return
	}
	l.cluster.Database = l.clusterText(v, "database", "name the one that all nodes share")
	if l.cluster.Database != "" && l.options.CheckControl != nil {
		if err := l.options.CheckControl(l.cluster.Database); err != nil {
			l.reportAt("cluster.database", v.finding(finding.CodeBadValue, "database: "+err.Error()))
		}
	}
	if l.control != "" {
		l.reportAt("control", doc.root.get("control").keyFinding(finding.CodeDuplicate,
			"control names a database, and so does [cluster], where the control store of a node is: leave control out"))
	}
}

// clusterNode reads which node this is.
func (l *loader) clusterNode(table *value) {
	v := table.get("node")
	if v == nil {
		l.reportAt("cluster", table.keyFinding(finding.CodeBadValue, `[cluster] does not say which node this is: node = 0, or node = "${HOSTNAME}" where that ends in -0`))
		return
	}
	text := v.text
	switch v.kind {
	case integerValue:
	case stringValue:
		name := l.clusterText(v, "node", "number the node from 0")
		if name == "" {
			return
		}
		text = name[strings.LastIndexByte(name, '-')+1:]
	default:
		l.reportAt("cluster.node", v.finding(finding.CodeWrongType, fmt.Sprintf("node takes a number, or a name that ends in one, not %s", v.kind)))
		return
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n > math.MaxInt16 {
		l.reportAt("cluster.node", v.finding(finding.CodeBadValue, fmt.Sprintf("node: %q is neither a number of a node, from 0, nor a name that ends in one, as webrace-0", text)))
		return
	}
	l.cluster.Node = int(n)
}

// clusterText returns a text of the table that is not empty; "" after what was wrong was reported.
func (l *loader) clusterText(v *value, key, todo string) string {
	if v.kind != stringValue {
		l.reportAt("cluster."+key, v.finding(finding.CodeWrongType, fmt.Sprintf("%s takes a string, not %s", key, v.kind)))
		return ""
	}
	text, wrong := l.expand(v)
	for _, f := range wrong {
		l.reportAt("cluster."+key, f)
	}
	if text == "" && wrong == nil {
		l.reportAt("cluster."+key, v.finding(finding.CodeBadValue, fmt.Sprintf("%s is empty: %s", key, todo)))
	}
	return text
}

func (l *loader) reportAt(path string, f finding.Finding) {
	f.Path = path
	l.report(f)
}
