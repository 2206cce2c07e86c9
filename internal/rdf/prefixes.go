package rdf

// KnownPrefixes are the prefixes that RDFa knows without a declaration (its initial context, at
// https://www.w3.org/2011/rdfa-context/rdfa-1.1). It must not be changed.
var KnownPrefixes = map[string]string{
	"as": "https://www.w3.org/ns/activitystreams#", "cc": "http://creativecommons.org/ns#", "csvw": "http://www.w3.org/ns/csvw#",
	"ctag": "http://commontag.org/ns#", "dc": "http://purl.org/dc/terms/", "dc11": "http://purl.org/dc/elements/1.1/", "dcat": "http://www.w3.org/ns/dcat#",
	"dcterms": "http://purl.org/dc/terms/", "dqv": "http://www.w3.org/ns/dqv#", "duv": "https://www.w3.org/ns/duv#", "foaf": "http://xmlns.com/foaf/0.1/",
	"gr": "http://purl.org/goodrelations/v1#", "grddl": "http://www.w3.org/2003/g/data-view#",
	"ical": "http://www.w3.org/2002/12/cal/icaltzd#", "jsonld": "http://www.w3.org/ns/json-ld#", "ldp": "http://www.w3.org/ns/ldp#",
	"ma": "http://www.w3.org/ns/ma-ont#", "oa": "http://www.w3.org/ns/oa#", "odrl": "http://www.w3.org/ns/odrl/2/",
	"og": "http://ogp.me/ns#", "org": "http://www.w3.org/ns/org#", "owl": "http://www.w3.org/2002/07/owl#",
	"prov": "http://www.w3.org/ns/prov#", "qb": "http://purl.org/linked-data/cube#", "rdf": NS, "rdfa": "http://www.w3.org/ns/rdfa#",
	"rdfs": "http://www.w3.org/2000/01/rdf-schema#", "rev": "http://purl.org/stuff/rev#", "rif": "http://www.w3.org/2007/rif#",
	"rr": "http://www.w3.org/ns/r2rml#", "schema": "http://schema.org/", "sd": "http://www.w3.org/ns/sparql-service-description#",
	"sioc": "http://rdfs.org/sioc/ns#", "skos": "http://www.w3.org/2004/02/skos/core#", "skosxl": "http://www.w3.org/2008/05/skos-xl#",
	"sosa": "http://www.w3.org/ns/sosa/", "ssn": "http://www.w3.org/ns/ssn/", "time": "http://www.w3.org/2006/time#",
	"v": "http://rdf.data-vocabulary.org/#", "vcard": "http://www.w3.org/2006/vcard/ns#", "void": "http://rdfs.org/ns/void#",
	"wdr": "http://www.w3.org/2007/05/powder#", "wdrs": "http://www.w3.org/2007/05/powder-s#", "xhv": "http://www.w3.org/1999/xhtml/vocab#", "xml": "http://www.w3.org/XML/1998/namespace",
	"xsd": XSD,
}
