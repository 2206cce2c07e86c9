package transform

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// signsOf is what look looks for, in the elements of the tree: its slow oracle.
func signsOf(root *html.Node) (found signs) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch words := strings.Fields(strings.ToLower(a.Val)); a.Key {
			case "itemscope":
				found |= signMicrodata
			case "property", "typeof", "vocab":
				found |= signRDFa
			case "role":
				found |= signRole
			case "type":
				if n.Data == "script" && strings.Contains(a.Val, "application/ld+json") {
					found |= signJSONLD
				}
			case "class":
				if namesRoot(a.Val) {
					found |= signMicroformats
				}
			case "rel", "rev":
				if strings.HasPrefix(strings.ToLower(a.Val), "schema.") || strings.HasPrefix(a.Val, "dcterms.") {
					found |= signMeta
				}
				for _, word := range words {
					if strings.Contains(word, ":") || rdfaTerms[word] != "" {
						found |= signRDFa
					}
				}
			case "name":
				if strings.Contains(a.Val, "dc.") || strings.HasPrefix(a.Val, "og:") {
					found |= signMeta
				}
			}
		}
	}
	return found
}

var signPages = []string{
	"<p ItemScope>", "<P\nclass='a h-card'>", "<script type = \"Application/LD+JSON\">{}</script>", "<a rel='x dc:y'>", "<a rel=license>",
	"<meta name=DC.title>", "<b/typeof=x>", "<b =property=x vocab>", "<script>'<p x=\"'</script><p itemscope>", "<!-- ' --><p itemscope>",
	"<!--><p itemscope>-->", "<title>'<p a=\"</title><p itemscope>", "<p a='>\" itemscope' role=x>", "<p class=&#104;-card>", "<x:y itemscope>",
	"<!doctype html '<p itemscope>", "<p itemscope", "<svg><style><p itemscope></svg>", "<textarea></text><p></textarea><p itemscope>",
	"<plaintext><p itemscope>", "</p itemscope>", "<?x itemscope><p vocab>", "<p a=b\"c itemscope>",
	"</p <!-- ><p itemscope>", "</p <script><p itemscope>", "<! <!-- ><p itemscope>", "<? <!-- ><p itemscope>", "</ <!-- ><p itemscope>",
	"<script></scriptx <!-- </script><p itemscope>", "<script><!--<script></script><style></script><p itemscope>",
	"<noscript><!-- </noscript><p itemscope>", "<noscript><p itemscope></noscript>", "<noscript><iframe/></noscript><a rel=license>",
	"<noscript><noscript><!--</noscript><p itemscope></noscript><p vocab>", "<link rel=dcterms.isPartOf href=a>", "<link rel='license schema.dc'>",
	"<svg><![CDATA[ <!-- ]]><p itemscope>", "<a rel=schema&#46;x>",
}

func TestSignsAreSeen(t *testing.T) {
	t.Parallel()
	for _, page := range signPages {
		sees(t, page)
	}
	for page, want := range map[string]signs{
		"<p>itemscope": 0, "<a rel='nofollow noopener'>": 0, "<p class='h-full'>": 0, "<script type=module>": 0, "<meta name=viewport>": 0,
		"<!-- <p itemscope> -->": 0, "<script>'<p itemscope>'</script>": 0, "<p itemscope>": signMicrodata, "<p role=x>": signRole,
	} {
		if got := look([]byte(page), 0); got != want {
			t.Errorf("%s: %b, want %b", page, got, want)
		}
	}
}

// sees checks that no sign is missed that is in an element.
func sees(t *testing.T, page string) {
	t.Helper()
	root, err := htmltree.Parse([]byte(page))
	if err != nil {
		return
	}
	if want, got := signsOf(root), look([]byte(page), 0); want&^got != 0 {
		t.Errorf("%q: signs %b, found %b", page, want, got)
	}
}

func FuzzSigns(f *testing.F) {
	for _, page := range signPages {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if lower := strings.ToLower(page); strings.Contains(lower, "<svg") || strings.Contains(lower, "<math") {
			t.Skip("where a drawing ends, look does not know")
		}
		sees(t, page)
	})
}

func TestSyntaxesOfAPageHaveNames(t *testing.T) {
	t.Parallel()
	const all = `<meta name=DC.title><p class=h-card><b vocab=x><i itemscope><script type=application/ld+json>`
	for page, want := range map[string]string{
		all: "JSON-LD Microdata RDFa meta microformats", "<p role=note>": "", "<meta property=og:title>": "RDFa", "<!-- <i itemscope> -->": "",
	} {
		if got := strings.Join(Syntaxes([]byte(page)), " "); got != want {
			t.Errorf("%s has %q, want %q", page, got, want)
		}
	}
}
