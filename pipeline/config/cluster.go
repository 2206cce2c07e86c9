package config

import (
	"fmt"
	"math"
	"net/url"
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
	Address  string // HOST:PORT where the other nodes reach this one; empty: they do not
	TLS      TLS    // by which nodes know each other, where there is an address
}

// TLS names the files by which a node shows who it is, and knows who others are.
type TLS struct{ Cert, Key, CA string }

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
	l.clusterKeys(table, "cluster", "[cluster]", "database", "node", "secrets", "address", "tls")
	l.clusterDatabase(doc, table)
	l.clusterNode(table)
	if v := table.get("secrets"); v != nil {
		l.cluster.Secrets = l.clusterText(v, "secrets", "name the file of the key, or leave it out")
	}
	l.clusterAddress(table)
}

// clusterKeys reports what stands in a table that has no meaning there.
func (l *loader) clusterKeys(table *value, path, name string, keys ...string) {
	for _, key := range table.keys {
		if !slices.Contains(keys, key) {
			f := table.table[key].keyFinding(finding.CodeUnknownKey, fmt.Sprintf("%s has no %q, only %s", name, key, suggest.And(keys)))
			f.Hint = suggest.Nearest(key, keys)
			l.reportAt(path+"."+key, f)
		}
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

// clusterAddress reads where other nodes reach this one, and by what the two know each other: there is none without the
// other, as whoever may ask may do what webrace-store does.
func (l *loader) clusterAddress(table *value) {
	const files = `tls = { cert = "node.pem", key = "node.key", ca = "ca.pem" }`
	address, tls := table.get("address"), table.get("tls")
	if address != nil {
		l.cluster.Address = l.clusterHost(address)
	}
	switch {
	case address == nil && tls != nil:
		l.reportAt("cluster.tls", tls.keyFinding(finding.CodeBadValue, `tls is for who reaches this node, and there is no address: address = "https://HOST:8643"`))
	case address != nil && tls == nil:
		l.reportAt("cluster.address", address.keyFinding(finding.CodeBadValue, "address: nodes are asked by those alone who show a certificate: "+files))
	case tls == nil:
	case tls.kind != tableValue:
		l.reportAt("cluster.tls", tls.finding(finding.CodeWrongType, fmt.Sprintf("tls is a table, %s, not %s", files, tls.kind)))
	default:
		l.clusterKeys(tls, "cluster.tls", "tls", "cert", "key", "ca")
		t := &l.cluster.TLS
		for _, file := range []struct {
			key string
			to  *string
		}{{"cert", &t.Cert}, {"key", &t.Key}, {"ca", &t.CA}} {
			if v := tls.get(file.key); v != nil {
				*file.to = l.clusterText(v, "tls."+file.key, "name a file of PEM")
				continue
			}
			l.reportAt("cluster.tls", tls.keyFinding(finding.CodeBadValue, fmt.Sprintf("tls lacks %s: %s", file.key, files)))
		}
	}
}

// clusterHost returns the host and port of an address.
func (l *loader) clusterHost(v *value) string {
	text := l.clusterText(v, "address", "write it as https://HOST:PORT, or leave it out")
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err == nil {
		if port, failed := strconv.ParseUint(u.Port(), 10, 16); failed == nil && port > 0 && u.Hostname() != "" && text == "https://"+u.Host {
			return u.Host
		}
	}
	l.reportAt("cluster.address", v.finding(finding.CodeBadValue, fmt.Sprintf("address: %q is not where other nodes reach this one: write https://HOST:PORT, as https://webrace-0:8643", text)))
	return ""
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
