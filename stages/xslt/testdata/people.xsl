<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:x="http://www.w3.org/1999/xhtml">
  <xsl:output method="text" media-type="text/turtle; charset=utf-8"/>
  <xsl:template match="/">@prefix foaf: &lt;http://xmlns.com/foaf/0.1/&gt; .
<xsl:for-each select="//x:li[@class = 'person']">[] foaf:name "<xsl:value-of select="normalize-space(.)"/>" .
</xsl:for-each></xsl:template>
</xsl:stylesheet>
