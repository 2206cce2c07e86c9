package urlnorm

import (
	"bytes"
	"slices"
	"strings"
)

// Rules normalize further than the standard allows: they join URLs that usually, but not by any rule of
// the web, name the same page. They are the owner's choice; the zero value changes nothing.
type Rules struct {
	// Strip has the names of query parameters to remove, in any case; one that ends in * stands for all
	// names that begin so.
	Strip []string
	// Index has the file names that stand for their directory: "index.html".
	Index []string
	// Sessions removes what names the session of a visitor: ;jsessionid=…, PHPSESSID=…, /(S(…))/.
	Sessions bool
	// Sort puts the parameters of a query in order, without those that are empty; equal names keep theirs.
	Sort bool
}

// TrackingParameters is a list for [Rules.Strip]: what is added to links to see who followed them.
func TrackingParameters() []string {
	return []string{"utm_*", "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid",
		"igshid", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id"}
}

// IndexPages is a list for [Rules.Index].
func IndexPages() []string {
	return []string{"index.html", "index.htm", "index.xhtml", "index.php", "default.asp", "default.aspx"}
}

// Concern reports whether the rules may change the normalized URL u; most it need not be asked about.
func (r *Rules) Concern(u []byte) bool {
	query := bytes.IndexByte(u, '?')
	if query >= 0 && (len(r.Strip) > 0 || r.Sort || r.Sessions) || r.Sessions && bytes.ContainsAny(u, ";(") {
		return true
	}
	if len(r.Index) == 0 {
		return false
	}
	if query >= 0 {
		u = u[:query]
	}
	return slices.Contains(r.Index, string(u[bytes.LastIndexByte(u, '/')+1:]))
}

// Apply returns the normalized URL u, normalized by the rules as well. Applying them again changes
// nothing.
func (r *Rules) Apply(u string) string {
	address, query, has := strings.Cut(u, "?")
	if r.Sessions {
		address = withoutSession(address)
	}
	slash := strings.LastIndexByte(address, '/')
	if slash >= hostEnd(address) && slices.Contains(r.Index, address[slash+1:]) {
		address = address[:slash+1]
	}
	if !has {
		return address
	}
	if query, has = r.query(query); !has {
		return address
	}
	return address + "?" + query
}

// query returns what is left of a query, and whether anything is. Where no parameter is removed it stays as it was
// linked, with those that are empty: it is the server's affair what "?" and "&&" mean to it.
func (r *Rules) query(query string) (left string, has bool) {
	all := strings.Split(query, "&")
	isEmpty := func(p string) bool { return p == "" }
	params := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return matchesName(r.Strip, name(p)) || r.Sessions && isSession(p) })
	if r.Sort || len(params) < len(all) && !slices.ContainsFunc(params, func(p string) bool { return !isEmpty(p) }) {
		params = slices.DeleteFunc(params, isEmpty)
	}
	if r.Sort {
		slices.SortStableFunc(params, func(a, b string) int { return strings.Compare(name(a), name(b)) })
	}
	return strings.Join(params, "&"), len(params) > 0
}

func name(param string) string {
	n, _, _ := strings.Cut(param, "=")
	return n
}

// matchesName reports whether a parameter's name is in a list, as [Rules.Strip] is one.
func matchesName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
		}
		return strings.EqualFold(name, pattern)
	})
}
