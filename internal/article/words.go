package article

import "strings"

// hint is what an element's name and the words of its class, id and role tell of it.
type hint uint32

const (
	beside  hint = 1 << iota // beside what is read: shared, related, advertised
	replies                  // comments of readers
	body                     // the text of an article
	content                  // an article
	main                     // the main part of a page
	title                    // the heading of a page

	lead     // what an article begins with, before its body
	caption  // what stands under a picture
	aside    // a note that belongs to the text
	data     // a table with headings
	code     // lines of a program
	dated    // a date
	headed   // a heading
	authored // an author
	sect     // a section of a text
	section  // the heading of one

	subject // a word for an article; with one for its text in the same name, they are body
	text
	place // it tells where an article is
)

var hints = func() map[string]hint {
	m := map[string]hint{}
	for words, h := range map[string]hint{
		"share shares sharing sharebar sharetools shariff sharedaddy addthis social socials related recommended " +
			"recommendation recommendations recirc subscribe subscription signup promo promos promotion promoted " +
			"advert adverts advertisement advertising ad ads adsense sponsor sponsored sponsors outbrain taboola sidebar " +
			"breadcrumb breadcrumbs crumb crumbs menu tags taglist  pagination pager " +
			"toolbar masthead skip login register rating ratings trending popular bio banner  complementary " +
			"dialog tooltip popover dropdown rollover search disclaimer copyright print meta metadata toc slider carousel": beside,
		"nav navigation navbar navheader navfooter footer contentinfo comment comments commenting disqus respond kommentar kommentare comentario comentarios commentaires commenti reacties " +
			"komentarze cookie cookies consent gdpr dsgvo popup modal overlay alert newsletter newsletters": replies,
		"article articles story post entry hentry": subject,
		"blog news field page":                     subject | place,
		"body content text copy prose":             text,
		"articlebody articlecontent articletext postcontent postbody storybody storycontent entrycontent": body,
		"main": main,
		"lead lede intro introduction standfirst dek deck subtitle subtitulo subheadline subhead summary teaser excerpt abstract " +
			"preface chapo bajada entradilla vorspann ingress description": lead,
		"sect refsect chapter appendix":                                  sect,
		"date dateline datetime":                                         dated,
		"author authors byline":                                          beside | authored,
		"footnote footnotes endnote endnotes note notes admonition":      aside,
		"caption captions figcaption imagecaption credit credits legend": caption,
	} {
		for w := range strings.FieldsSeq(words) {
			m[w] |= h
		}
	}
	return m
}()

// hintsOfID does the same with an id. One of many words is where a section is that treats of them.
func hintsOfID(id string) hint {
	words := 1
	for i := range len(id) {
		if c := id[i]; c == '-' || c == '_' || c == '.' {
			words++
		}
	}
	if words > mostWords {
		return 0
	}
	return hintsOf(id) &^ dated
}

const mostWords = 2

// hintsOf reads the words of names as sidebar-left, articleBody or post_content. A word is told by its letters alone.
func hintsOf(names string) (all hint) {
	var word [20]byte
	var h hint // of a name
	n, start := 0, 0
	lower := false
	for i := 0; i <= len(names); i++ {
		var c byte = ' '
		if i < len(names) {
			c = names[i]
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
		whole := n == i-start
		n, lower = 0, false
		if upper {
			word[0], n = c|0x20, 1
		}
		if c == ' ' {
			start = i + 1
			if h&subject != 0 && h&text != 0 {
				h |= body
			}
			if h == subject && whole {
				h |= content
			}
			all |= h &^ (subject | text | place)
			h = 0
		}
	}
	return all
}
