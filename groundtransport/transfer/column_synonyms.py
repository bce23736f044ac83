"""Further titles of columns, besides those of the types (``Field.synonyms``): English, Spanish, German, then French.

They are in small letters without accents, blanks and symbols.
"""

from groundtransport.transfer.plan_types import AIRPORT_CODE, VERIFIED_AT

BY_FIELD: dict[str, tuple[str, ...]] = {
    AIRPORT_CODE: (
        *("airportcode", "airportiata", "iata", "iatacode", "airporticao", "icao", "icaocode"),
        *("codigodeaeropuerto", "codigodelaeropuerto", "codigoiata", "codigooaci"),
        *("flughafencode", "flughafenkurzel", "flughafenkuerzel", "codeaeroport", "codeiata", "codeoaci"),
    ),
    VERIFIED_AT: (
        *("verified", "verifiedutc", "lastverified", "lastchecked", "checkdate"),
        *("verificado", "verificadoutc", "fechadeverificacion"),
        *("gepruft", "geprueft", "gepruftam", "geprueftam", "zuletztgepruft", "verifie", "verifiele"),
    ),
    "company_address": (
        *("address", "street", "streetaddress", "address1", "addressline1", "postaladdress", "mailingaddress"),
        *("direccion", "calle", "domicilio"),
        *("strasse", "strassenr", "strassehausnr", "strassehausnummer", "strasseundhausnummer", "anschrift"),
        *("adresse", "firmenadresse", "firmenanschrift", "rue", "adressepostale"),
    ),
    "zip_code": (
        *("zip", "postalcode", "postcode", "zippostalcode", "zipcodepostalcode", "codigopostal"),
        *("plz", "postleitzahl", "codepostal", "cp"),
    ),
    "route_name": (
        *("route", "line", "linename", "routelongname", "service", "servicename", "busline", "busroute"),
        *("linenumber", "lineno", "routenumber", "routeno"),
        *("ruta", "linea", "nombredelaruta", "nombredelalinea", "recorrido"),
        *("linie", "linienname", "liniennummer", "liniennr", "buslinie", "strecke", "streckenname"),
        *("ligne", "nomdelaligne", "numerodeligne", "itineraire"),
    ),
    "place": (
        *("stop", "stopname", "busstop", "location", "terminal", "pickup", "pickuplocation", "pickuppoint"),
        *("meetingpoint", "parada", "lugar", "ubicacion", "puntodeencuentro"),
        *("haltestelle", "haltestellenname", "halt", "treffpunkt", "abfahrtsort", "standort"),
        *("arret", "nomdelarret", "lieu", "pointderencontre"),
    ),
    "description": (
        *("notes", "note", "remarks", "remark", "comment", "comments", "details", "routedesc"),
        *("notas", "observaciones", "comentarios", "descripcion"),
        *("bemerkung", "bemerkungen", "anmerkung", "anmerkungen", "beschreibung", "hinweis", "hinweise"),
        *("kommentar", "kommentare", "notiz", "notizen", "zusatzinformation", "zusatzinformationen"),
        *("remarque", "remarques", "commentaire", "commentaires", "observations"),
    ),
    "status": ("statut",),
    "valid_from": ("startdate", "seasonstart", "desde", "fechadeinicio", "gultigab", "gultigvon"),
    "valid_until": ("validto", "enddate", "seasonend", "expires", "hasta", "fechadefin", "gultigbis"),
    "source": ("datasource", "feed", "feedname", "fuente", "quelle", "datenquelle"),
    "source_id": ("externalid", "sourcekey", "recordkey", "idexterno", "externeid", "quellenid", "idexterne"),
}
# Of the field that is the label of a kind's records.
LABEL: tuple[str, ...] = (
    *("name", "agencyname", "agency", "company", "operator", "operatorname", "provider", "carrier"),
    *("organisation", "organization", "businessname", "companytitle"),
    *("nombre", "empresa", "operador", "nombredelaempresa", "compania", "razonsocial", "transportista"),
    *("firma", "firmenname", "unternehmen", "unternehmensname", "verkehrsunternehmen", "busunternehmen"),
    *("betreiber", "anbieter", "gesellschaft"),
    *("nom", "entreprise", "societe", "nomdelasociete", "exploitant", "operateur", "transporteur", "compagnie"),
)
