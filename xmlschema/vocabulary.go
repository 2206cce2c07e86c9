package xmlschema

import "strings"

// vocabulary is the names that documents use, by the numbers that tables have for them: names may be added
// at the end, and none ever moves. They have no prefix; elements are of our [Namespace], attributes of none.
var vocabulary = strings.Fields(`
	urd id owner uri timing lastcheck port login secret group type protocol method processtype change
	keywords match threshold keyword key weight exact depth level scope urgency urgent
	aci extension format relevance updatetime filesize title docbase digest version expired expir summary
	explain heading body navigation saturation share
	meta status size etag lastmodified fetched url ip header name link href
	selection select ignore css xpath regex
	since likeness
	remember shown matched also count values value
	request jq when at
	sparql
	labels state thread
	part
	ask judgement answer model question`)

// ownNames is the number of the first name that a table keeps itself.
const ownNames = 256

var vocabularyNumbers = func() map[string]uint32 {
	numbers := make(map[string]uint32, len(vocabulary))
	for n, name := range vocabulary {
		numbers[name] = uint32(n)
	}
	return numbers
}()
