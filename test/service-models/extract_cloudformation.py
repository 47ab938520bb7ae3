"""Writes what CloudFormation does with an update, and what a region has, from AWS's own data.

    pip install 'cfn-lint>=1.58' && python test/service-models/extract_cloudformation.py && npm run format

cfn-lint (MIT-0) ships CloudFormation's resource schemas, the resource types of each region, and SageMaker's instance
types by region out of AWS's price list. Earlier versions ship them in another form: 1.51 names regions in modules of
Python.

- `test/service-models/updates.json`: of the resource types that the templates have, the properties whose change
  replaces the resource.
- `lib/instance-types/regions.json`: instance types for endpoints and transform jobs by region, and the regions whose
  CloudFormation has endpoints and inference components.
- `lib/batch-worker/ec2-regions.json`: families of EC2 instances by region.
"""
import importlib.metadata
import json
import pathlib

import cfnlint

HERE = pathlib.Path(__file__).parent
SCHEMAS = pathlib.Path(cfnlint.__file__).parent / "data" / "schemas"
REGION = "us-east-1"
TYPES = [
    "AWS::ApiGateway::ApiKey",
    "AWS::ApiGateway::Authorizer",
    "AWS::ApiGateway::BasePathMapping",
    "AWS::ApiGateway::Deployment",
    "AWS::ApiGateway::DomainName",
    "AWS::ApiGateway::GatewayResponse",
    "AWS::ApiGateway::Method",
    "AWS::ApiGateway::Resource",
    "AWS::ApiGateway::RestApi",
    "AWS::ApiGateway::Stage",
    "AWS::ApiGateway::UsagePlan",
    "AWS::ApiGateway::UsagePlanKey",
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::Batch::ComputeEnvironment",
    "AWS::Batch::JobDefinition",
    "AWS::Batch::JobQueue",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::SecurityGroup",
    "AWS::Events::Rule",
    "AWS::IAM::InstanceProfile",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
    "AWS::Route53::RecordSet",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
    "AWS::SSM::Parameter",
    "AWS::SageMaker::Endpoint",
    "AWS::SageMaker::EndpointConfig",
    "AWS::SageMaker::InferenceComponent",
    "AWS::SageMaker::Model",
    "AWS::SageMaker::ModelPackageGroup",
    "AWS::StepFunctions::StateMachine",
]


def read(*parts):
    return json.loads(SCHEMAS.joinpath(*parts).read_text())


def source():
    return {
        "package": f"cfn-lint {importlib.metadata.version('cfn-lint')}",
        "license": "MIT-0",
        "asOf": read("version.json")["schema_date"][:10],
    }


def names(pointers):
    return sorted(pointer.removeprefix("/properties/") for pointer in pointers or [])


def updates():
    provider = read("providers", f"{REGION}.json")
    found = {}
    for type_name in TYPES:
        schema = read("resources", f"{provider[type_name]}.json")
        found[type_name] = names(schema.get("createOnlyProperties"))
    return {"source": source(), "types": found}


def instance_types(use):
    table = read("extensions", f"aws_sagemaker_{use}", "instancetype_enum.json")
    return {region: value["enum"] for region, value in table.items() if isinstance(value, dict)}


def regions():
    endpoint, transform = instance_types("hosting"), instance_types("transform")
    found = {}
    for region in sorted(endpoint):
        try:
            provider = read("providers", f"{region}.json")
        except FileNotFoundError:
            provider = None
        short = lambda types: " ".join(name.removeprefix("ml.") for name in types)
        found[region] = {
            "endpoint": short(endpoint[region]),
            "transform": short(transform.get(region, [])),
            **(
                {}
                if provider is None
                else {
                    "endpoints": "AWS::SageMaker::EndpointConfig" in provider,
                    "inferenceComponents": "AWS::SageMaker::InferenceComponent" in provider,
                }
            ),
        }
    return {"source": source(), "regions": found}


def ec2_regions():
    table = read("extensions", "aws_ec2_instance", "instancetype_enum.json")
    found = {
        region: " ".join(sorted({name.split(".")[0] for name in value["enum"]}))
        for region, value in sorted(table.items())
        if isinstance(value, dict) and region != "all"
    }
    return {"source": source(), "regions": found}


def write(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    write(HERE / "updates.json", updates())
    write(HERE.parent.parent / "lib" / "instance-types" / "regions.json", regions())
    write(HERE.parent.parent / "lib" / "batch-worker" / "ec2-regions.json", ec2_regions())
