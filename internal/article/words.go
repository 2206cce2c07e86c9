package article

import "strings"

// hint is what the words of an element's class, id, role or itemprop tell of it.
type hint uint16

const (
	beside  hint = 1 << iota // beside what is read: shared, related, advertised
	body                     // the text of an article
	content                  // the content of a page
)

var hints = func() map[string]hint {
	m := map[string]hint{}
	for words, h := range map[string]hint{
		"share shares sharing sharebar social socials related recommended recommendation recommendations recirc newsletter " +
			"newsletters subscribe subscription signup promo promos promotion promoted advert adverts advertisement " +
			"advertising ad ads adsense sponsor sponsored sponsors outbrain taboola comment comments commenting disqus sidebar " +
			"breadcrumb breadcrumbs cookie cookies consent gdpr popup modal overlay menu nav navigation navbar footer tags " +
			"taglist byline pagination pager toolbar widget widgets masthead skip login register rating ratings trending " +
			"popular bio banner contentinfo complementary dialog alert search": beside,
		"articlebody": body,
		"article articles body content entry post story text prose main": content,
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] |= h
		}
	}
	return m
}()

// hintsOf reads the words of a value as sidebar-left, articleBody or post_content. A word is told by its letters alone.
func hintsOf(value string) (h hint) {
	var word [20]byte
	n := 0
	lower := false
	for i := 0; i <= len(value); i++ {
		var c byte
		if i < len(value) {
			c = value[i]
		}
		upper := 'A' <= c && c <= 'Z'
		if small := c | 0x20; 'a' <= small && small <= 'z' && !(upper && lower) {
			if n < len(word) {
				word[n] = small
			}
			n++
			lower = !upper
			continue
		}
		if 0 < n && n <= len(word) {
			h |= hints[string(word[:n])]
		}
		n, lower = 0, false
		if upper {
			word[0], n = c|0x20, 1
		}
	}
	return h
}
