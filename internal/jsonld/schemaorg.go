package jsonld

import (
	"strings"
)

// The context of schema.org, as a table of what it defines beside its vocabulary: the terms whose strings are IRIs or
// dates. All others are the vocabulary's, with plain texts. docs/decisions/text.md tells what the table was made from.
const (
	// schemaIRIs are the properties whose values can be URLs and cannot be texts.
	schemaIRIs = `
acquireLicensePage actionableFeedbackPolicy afterMedia archivedAt associatedDisease beforeMedia benefitsSummaryUrl
codeRepository colleague colorSwatch constraintProperty contentUrl correctionsPolicy discussionUrl
diseasePreventionInfo diseaseSpreadStatistics diversityPolicy diversityStaffingReport documentation downloadUrl
duringMedia embedUrl ethicsPolicy gameLocation gettingTestedInfo hasDigitalProductPassport hasGS1DigitalLink hasMap
hasMolecularFunction healthPlanMarketingUrl image inCodeSet inDefinedTermSet installUrl isBasedOn isBasedOnUrl
isInvolvedInBiologicalProcess isLocatedInSubcellularLocation isPartOf labelDetails layoutImage license logo
mainEntityOfPage map maps masthead merchantReturnLink missionCoveragePrioritiesPolicy newsUpdatesAndGuidelines
noBylinesPolicy originalMediaLink paymentUrl prescribingInfo productReturnLink publicTransportClosuresInfo
publishingPrinciples quarantineGuidelines relatedLink replyToUrl sameAs schoolClosuresInfo screenshot sdLicense
season serviceUrl shippingSettingsLink significantLink significantLinks speakable target targetUrl thumbnailUrl
tourBookingPage trackingUrl travelBans unnamedSourcesPolicy url usageInfo verificationFactCheckingPolicy webFeed`

	// schemaDates are those whose values can be dates, and neither URLs nor texts. Those of times have no type.
	schemaDates = `
applicationStartDate auditDate availabilityEnds availabilityStarts birthDate commentTime dateCreated dateDeleted
dateIssued dateModified datePosted datePublished dateRead dateVehicleFirstRegistered deathDate dissolutionDate
endDate exceptDate expectedArrivalFrom expectedArrivalUntil expires foundingDate guidelineDate lastReviewed
legislationDate legislationDateOfApplicability legislationDateVersion merchantReturnDays modelDate observationDate
orderDate paymentDueDate previousStartDate priceValidUntil productionDate purchaseDate releaseDate
scheduledPaymentDate scheduledTime sdDatePublished startDate uploadDate validFrom validThrough validUntil
vehicleModelDate`

	// schemaPrefixes are the prefixes that pages use.
	schemaPrefixes = `
bibo http://purl.org/ontology/bibo/
csvw http://www.w3.org/ns/csvw#
dc http://purl.org/dc/elements/1.1/
dcam http://purl.org/dc/dcam/
dcat http://www.w3.org/ns/dcat#
dcmitype http://purl.org/dc/dcmitype/
dct http://purl.org/dc/terms/
dcterms http://purl.org/dc/terms/
dctype http://purl.org/dc/dcmitype/
doap http://usefulinc.com/ns/doap#
eli http://data.europa.eu/eli/ontology#
foaf http://xmlns.com/foaf/0.1/
gs1 https://ref.gs1.org/voc/
hydra http://www.w3.org/ns/hydra/core#
mo http://purl.org/ontology/mo/
odrl http://www.w3.org/ns/odrl/2/
og http://ogp.me/ns#
org http://www.w3.org/ns/org#
owl http://www.w3.org/2002/07/owl#
prof http://www.w3.org/ns/dx/prof/
prov http://www.w3.org/ns/prov#
qb http://purl.org/linked-data/cube#
rdf http://www.w3.org/1999/02/22-rdf-syntax-ns#
rdfs http://www.w3.org/2000/01/rdf-schema#
schema http://schema.org/
sh http://www.w3.org/ns/shacl#
skos http://www.w3.org/2004/02/skos/core#
sosa http://www.w3.org/ns/sosa/
ssn http://www.w3.org/ns/ssn/
time http://www.w3.org/2006/time#
vann http://purl.org/vocab/vann/
vcard http://www.w3.org/2006/vcard/ns#
void http://rdfs.org/ns/void#
xml http://www.w3.org/XML/1998/namespace
xsd http://www.w3.org/2001/XMLSchema#`
)

// schemaOrg writes the document of that context.
func schemaOrg() string {
	var b strings.Builder
	b.WriteString(`{"@context":{"@vocab":"http://schema.org/","type":"@type","id":"@id","HTML":{"@id":"rdf:HTML"}`)
	prefixes := strings.Fields(schemaPrefixes)
	for i := 0; i < len(prefixes); i += 2 {
		b.WriteString(`,"` + prefixes[i] + `":"` + prefixes[i+1] + `"`)
	}
	for _, t := range []struct{ terms, typ string }{{schemaIRIs, "@id"}, {schemaDates, "Date"}} {
		for term := range strings.FieldsSeq(t.terms) {
			b.WriteString(`,"` + term + `":{"@id":"schema:` + term + `","@type":"` + t.typ + `"}`)
		}
	}
	b.WriteString("}}")
	return b.String()
}
